#define BOOST_TEST_MODULE github_look_up
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "github_fixture.h"
#include "sinks/port/http_answer.h"

using namespace epilogue;
using namespace epilogue::github_test;

BOOST_FIXTURE_TEST_CASE(a_post_whose_answer_was_lost_is_found_again, Fixture) {
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
    rule({{"method", "POST"}, {"do", "apply_then_reset"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "unknown");
    const auto lookup = sink.find(post);
    BOOST_TEST(lookup.ok);
    BOOST_REQUIRE(lookup.found.size() == 1U);
    const auto visible = platform.visible();
    BOOST_TEST(lookup.found[0].remote_id == text_of(visible.at(0).id));
    BOOST_TEST(lookup.found[0].remote_url.ends_with("#issuecomment-" + text_of(visible.at(0).id)));
}

BOOST_FIXTURE_TEST_CASE(twins_are_seen_oldest_first_and_can_be_removed, Fixture) {
    rule({{"method", "POST"}, {"do", "apply_twice"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 2U);
    const auto lookup = sink.find(post);
    BOOST_REQUIRE(lookup.found.size() == 2U);
    BOOST_TEST(lookup.found[0].remote_id == text_of(visible[0].id));
    BOOST_TEST(lookup.found[1].remote_id == text_of(visible[1].id));
    BOOST_TEST(sink.remove(post, lookup.found[1]));
    BOOST_TEST(sink.remove(post, lookup.found[1]), "gone is gone");
    BOOST_TEST(found() == Ids{text_of(visible[0].id)}, boost::test_tools::per_element());
    answers("DELETE", 403, "no");
    BOOST_TEST(!sink.remove(post, lookup.found[0]));
    rule({{"method", "DELETE"}, {"do", "reset"}});
    BOOST_TEST(!sink.remove(post, lookup.found[0]));
}

BOOST_FIXTURE_TEST_CASE(all_pages_are_read, Fixture) {
    for (int i = 0; i < 140; ++i) seed("somebody", "comment");
    const auto first = seed(bot_login, "x\n\n" + mark);
    for (int i = 0; i < 140; ++i) seed("somebody", "comment");
    const auto second = seed(bot_login, mark);
    BOOST_TEST(found() == (Ids{text_of(first), text_of(second)}), boost::test_tools::per_element());
    std::size_t pages = 0;
    for (const auto& entry : platform.log()) pages += entry.path.ends_with("/comments") ? 1U : 0U;
    BOOST_TEST(pages == 6U, "each of the three is read twice");
}

BOOST_FIXTURE_TEST_CASE(only_the_whole_marker_by_our_own_hand_counts, Fixture) {
    seed("mallory", "forged\n\n" + mark);
    seed(bot_login, "> " + mark);
    seed(bot_login, marker_line("another key", id));
    seed(bot_login, marker_line("key", "2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b12"));
    seed(bot_login, mark, system_now() - 1h);
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
    const auto ours = seed(bot_login, "edited in a browser\r\n\r\n" + mark + "\r\nthanks!");
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(an_old_comment_edited_to_hold_our_marker_is_not_ours, Fixture) {
    const auto old = seed(bot_login, "old", system_now() - 1h);
    BOOST_TEST(platform.edit(old, mark));
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_key_rotated_since_still_finds_what_was_posted, Fixture) {
    sink.create(post);
    auto settings = settings_for(platform);
    settings.mac_key = "next key";
    const auto rotated = called<GithubSink>(settings);
    BOOST_TEST(rotated.find(post).found.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_purged_body_leaves_the_marker_of_the_key, Fixture) {
    sink.create(post);
    post.body.clear();
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(who_we_are_is_asked_once, Fixture) {
    const auto ours = seed(bot_login, mark);
    const auto asked = [&] {
        std::size_t count = 0;
        for (const auto& entry : platform.log()) count += entry.path.ends_with("/user") ? 1U : 0U;
        return count;
    };
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
    BOOST_TEST(asked() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_token_that_may_not_ask_who_it_is_trusts_the_oldest_marker, Fixture) {
    const auto ours = seed(bot_login, mark);
    seed("mallory", mark);
    const auto duplicate = seed(bot_login, mark);
    for (const int status : {403, 404}) {
        const auto app = called<GithubSink>(settings_for(platform));
        rule({{"path", "/user$"}, {"do", "status"}, {"status", status}});
        const auto lookup = app.find(post);
        BOOST_TEST(lookup.ok);
        BOOST_REQUIRE(lookup.found.size() == 2U);
        BOOST_TEST(lookup.found[0].remote_id == text_of(ours));
        BOOST_TEST(lookup.found[1].remote_id == text_of(duplicate));
    }
}

BOOST_FIXTURE_TEST_CASE(a_post_of_ours_tells_who_we_are, Fixture) {
    seed("mallory", mark);
    rule({{"path", "/user$"}, {"do", "status"}, {"status", 403}, {"times", -1}});
    const auto attempt = sink.create(post);
    BOOST_TEST(found() == Ids{attempt.receipt.remote_id}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(nothing_is_concluded_while_it_is_unclear_who_we_are, Fixture) {
    seed(bot_login, mark);
    for (const Json& trouble :
         {Json{{"do", "status"}, {"status", 502}}, Json{{"do", "reset"}, {"times", -1}},
          Json{{"do", "half_answer"}},
          Json{{"do", "status"}, {"status", 403}, {"headers", {{"retry-after", "9"}}}}}) {
        auto scripted = trouble;
        scripted["path"] = "/user$";
        rule(scripted);
        const auto lookup = sink.find(post);
        BOOST_TEST(!lookup.ok, trouble.dump());
        BOOST_TEST(!lookup.forbidden);
        BOOST_TEST(lookup.found.empty());
        BOOST_TEST(lookup.not_before.has_value() == trouble.contains("headers"));
    }
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_look_up_that_fails_says_whether_waiting_helps, Fixture) {
    struct Row {
        int status;
        Json headers;
        bool forbidden;
        std::string cause;
    };
    const std::vector<Row> rows{
        {401, Json::object(), true, "401 m"},
        {403, Json::object(), true, "403 m"},
        {403, {{"retry-after", "5"}}, false, "403 rate limited"},
        {404, Json::object(), true, "404 m"},
        {410, Json::object(), true, "410 m"},
        {301, {{"location", "/repositories/1"}}, true, "301 moved to /repositories/1"},
        {429, Json::object(), false, "429 rate limited"},
        {500, Json::object(), false, "500 m"},
        {503, Json::object(), false, "503 m"},
        {200, Json::object(), false, "200 without a readable list of comments"},
    };
    for (const auto& row : rows) {
        answers("GET", row.status, "m", row.headers);
        const auto lookup = sink.find(post);
        BOOST_TEST(!lookup.ok, row.status);
        BOOST_TEST(lookup.forbidden == row.forbidden, row.status);
        BOOST_TEST(lookup.cause == row.cause);
        BOOST_TEST(lookup.not_before.has_value() == (row.cause.find("rate") != std::string::npos));
    }
    for (const std::string deed : {"reset", "half_answer"}) {
        rule({{"method", "GET"}, {"do", deed}, {"times", -1}});  // a read may be sent again below us
        const auto lookup = sink.find(post);
        BOOST_TEST(!lookup.ok, deed);
        BOOST_TEST(!lookup.forbidden, deed);
    }
}

BOOST_FIXTURE_TEST_CASE(a_later_page_that_fails_leaves_nothing_concluded, Fixture) {
    seed(bot_login, mark);
    for (int i = 0; i < 100; ++i) seed("somebody", "comment");
    rule({{"path", "/comments$"}, {"skip", 1}, {"do", "status"}, {"status", 502}});
    const auto lookup = sink.find(post);
    BOOST_TEST(!lookup.ok);
    BOOST_TEST(lookup.found.empty());
}

BOOST_FIXTURE_TEST_CASE(our_token_follows_no_link_to_another_host, Fixture) {
    FakePlatformServer other;
    rule(
        {{"path", "/comments$"},
         {"do", "status"},
         {"status", 200},
         {"headers",
          {{"link", "<" + other.url("/github/repos/octo/cat/issues/7/comments?page=2") + ">; rel=\"next\""}}},
         {"answer", Json::array()}});
    const auto lookup = sink.find(post);
    BOOST_TEST(!lookup.ok);
    BOOST_TEST(lookup.cause == "the next page of comments is on another host");
    BOOST_TEST(other.log().empty());
}

BOOST_FIXTURE_TEST_CASE(pages_without_end_are_left, Fixture) {
    rule({{"path", "/comments$"},
          {"do", "status"},
          {"times", -1},
          {"status", 200},
          {"headers",
           {{"link",
             "<" + platform.url("/github/repos/octo/cat/issues/7/comments?page=2") + ">; rel=\"next\""}}},
          {"answer", Json::array()}});
    const auto lookup = sink.find(post);
    BOOST_TEST(!lookup.ok);
    BOOST_TEST(lookup.cause == "more than 100 pages of comments");
    BOOST_TEST(platform.log().size() == 100U);
}

BOOST_FIXTURE_TEST_CASE(all_pages_share_one_deadline, Fixture) {
    const auto hasty = called<GithubSink>(settings_for(platform), 500ms);
    for (int i = 0; i < 400; ++i) seed("somebody", "comment");
    rule({{"path", "/comments$"}, {"do", "delay"}, {"ms", 200}, {"times", -1}});
    const auto begin = std::chrono::steady_clock::now();
    BOOST_TEST(!hasty.find(post).ok);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 2s));
}

BOOST_AUTO_TEST_CASE(links_are_read_as_rfc_8288_has_them) {
    const auto next = [](const std::string& link) {
        HttpAnswer answer;
        answer.headers["link"] = link;
        return next_page(answer);
    };
    BOOST_TEST(next("<https://x/?a=1,2&b=;c>; rel=\"next\", <https://x/l>; rel=\"last\"") ==
               "https://x/?a=1,2&b=;c");
    BOOST_TEST(next("<https://x/p>; rel=\"prev\", <https://x/n>; title=\"t\"; rel=\"next\"") ==
               "https://x/n");
    BOOST_TEST(next("<https://x/l>; rel=\"last\"").empty());
    BOOST_TEST(next("<https://x/n").empty());
    BOOST_TEST(next("").empty());
    BOOST_TEST(origin_of("HTTPS://API.Example.com:8443/a?b") == "https://api.example.com:8443");
    BOOST_TEST(origin_of("/a").empty());
    BOOST_TEST(path_of("https://x.example/a?b") == "/a?b");
    BOOST_TEST(path_of("/a") == "/a");
}
