#define BOOST_TEST_MODULE digest_row
#include "worker/core/digest_row.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

Digest full_digest() {
    Digest digest;
    add(digest, FileChanged{"/w/a \"b\".py", FileChange::created, LineChange{3, 1}}, 10);
    add(digest, FileChanged{"/w/c.py", FileChange::deleted}, 11);
    add(digest, CommandStarted{"c0", "make"}, 12);
    add(digest, CommandEnded{"c1", 1, "pytest -q", "1 failed, 4 passed", "/w"}, 13);
    add(digest, CommandEnded{"c2", 2, "go test ./...", "ok  \tx\t1s\nFAIL\ty\t1s", "/w"}, 14);
    add(digest, CommandEnded{"c3", 1, "git push", "fatal: no", "/w/sub"}, 15);
    add(digest, ErrorSeen{"e1", "ERROR:\nNo replacement in /w/z.py.", true}, 16);
    add(digest, ErrorSeen{"e2", "A restart occurred"}, 17);
    add(digest, BranchMoved{"main", "1a2b3c4", false}, 18);
    add(digest, BranchMoved{"dev", "", true}, 18);
    add(digest, RequestMade{"https://x/pull/1"}, 19);
    add(digest, OutcomeSaid{false}, 20);
    add(digest, TaskRefused{"no"}, 21);
    note_step(digest, "ls", 22);
    digest.goal = Digest::Goal{true, 2, 5};
    digest.figures.usage_before = UsageTold{1, 2, 3};
    digest.figures.usage = UsageTold{4, 5, 6};
    digest.figures.seconds = 61;
    digest.unfinished = "sleep";
    digest.unfinished_order = 12;
    digest.cut = true;
    return digest;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_digest_survives_its_row) {
    const Digest digest = full_digest();
    BOOST_TEST(digest.problems.size() == 3U);
    const auto read = digest_from_json(to_json(digest));
    BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().text));
    BOOST_TEST((*read == digest));
    BOOST_TEST(to_json(*read) == to_json(digest));
    BOOST_TEST(to_json(Digest{}) == "{}");
    BOOST_TEST((digest_from_json("{}").value() == Digest{}));
}

BOOST_AUTO_TEST_CASE(what_the_version_before_wrote_is_read) {
    const auto read = digest_from_json(
        R"({"files":["a.py","b.py"],"commands":[{"id":"c1","text":"ls","exit":1},{"id":"c2","text":"pytest","test":true,)"
        R"("exit":1},{"id":"c3","text":"pytest","test":true,"exit":0},{"id":"c4","text":"ctest","test":true}],)"
        R"("links":["https://x/pull/1"],"errors":[{"id":"e1","text":"no tool"}],"goal":{"capped":true,"rounds":1,)"
        R"("max_rounds":2},"cut":true})");
    BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().text));
    BOOST_REQUIRE(read->files.size() == 2U);
    BOOST_TEST(read->files[1].path == "b.py");
    BOOST_TEST(read->links.size() == 1U);
    BOOST_TEST(read->goal.has_value());
    BOOST_TEST(read->cut);
    BOOST_TEST(read->problems.empty());
    const auto checks = shown_checks(*read);
    BOOST_REQUIRE(checks.size() == 2U);
    BOOST_TEST((checks[0].result == Digest::Check::Result::unknown));
    BOOST_TEST((checks[1].result == Digest::Check::Result::passed));
    BOOST_TEST(checks[1].failed_before);
}

BOOST_AUTO_TEST_CASE(the_version_before_can_read_what_is_written) {
    // It knows these members, and each in one form alone.
    const std::string json = to_json(full_digest());
    for (const char* member : {"\"files\"", "\"commands\"", "\"errors\""})
        BOOST_TEST(json.find(member) == std::string::npos, member);
    BOOST_TEST(json.find(R"("links":["https://x/pull/1"])") != std::string::npos, json);
}

BOOST_AUTO_TEST_CASE(what_is_no_digest_is_poison) {
    for (const char* json :
         {"x", "7", "[]", R"({"commands":[{}]})", R"({"changed":{}})", R"({"changed":[{}]})",
          R"({"checks":[{"text":"x"}]})", R"({"links":[1]})", R"({"goal":{}})"}) {
        const auto read = digest_from_json(json);
        BOOST_REQUIRE_MESSAGE(!read.has_value(), json);
        BOOST_TEST((read.error().remedy == Remedy::poison), json);
    }
}

BOOST_AUTO_TEST_CASE(the_row_of_the_fullest_digest_is_bounded) {
    Digest digest;
    for (int i = 0; i < 2000; ++i) {
        const std::string text = std::to_string(i) + std::string(2000, 'x');
        add(digest, FileChanged{"/" + text, FileChange::created, LineChange{1, 1}});
        add(digest, CommandEnded{"c", 1, "pytest " + text, text + "\n1 failed", "/" + std::to_string(i)});
        add(digest, CommandEnded{"c", 1, "git push " + text, text, ""});
        add(digest, BranchMoved{text, "1a2b3c4", true});
        add(digest, RequestMade{text});
        add(digest, ErrorSeen{"e", text});
        add(digest, TaskRefused{text});
        note_step(digest, text, digest.newest + 1);
    }
    constexpr std::size_t bound = std::size_t{64} << 10U;
    BOOST_TEST(to_json(digest).size() < bound);
    BOOST_TEST(digest.cut);
}
