#define BOOST_TEST_MODULE github_review
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "github_fixture.h"

using namespace epilogue;
using namespace epilogue::github_test;

namespace {

const std::string reviews = "octo/cat!7";

/// A review thread of two, and a post that answers its second comment.
struct ReviewFixture : Fixture {
    std::int64_t root = seed_review("alice", "why?");
    std::int64_t second = seed_review("bob", "@openhands fix", text_of(root));

    ReviewFixture() { std::any_cast<GithubTarget&>(post.target).review_comment_id = second; }

    std::int64_t seed_review(const std::string& author, const std::string& body,
                             const std::string& thread = "") {
        fake_platform::Comment comment;
        comment.platform = "github";
        comment.place = reviews;
        comment.author = author;
        comment.body = body;
        comment.thread = thread;
        return platform.seed(std::move(comment));
    }
    fake_platform::Comment newest() const { return platform.visible().back(); }
    std::string conversation_body() const {
        return "In reply to [a review comment that is gone](" +
               platform.url("/github/octo/cat/pull/7#discussion_r") + text_of(second) + ")\n\n" + post.body;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_reply_goes_to_the_comment_that_begins_the_thread, ReviewFixture) {
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(newest().place == reviews);
    BOOST_TEST(newest().thread == text_of(root));
    BOOST_TEST(newest().body == post.body);
    BOOST_TEST(attempt.receipt.remote_url.ends_with("/pull/7#discussion_r" + attempt.receipt.remote_id));
    std::any_cast<GithubTarget&>(post.target).review_comment_id = root;
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(newest().thread == text_of(root));
    BOOST_TEST(platform.counts().attempts == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_thread_that_is_gone_is_answered_in_the_conversation_with_a_link, ReviewFixture) {
    platform.remove(second);
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(newest().place == place);
    BOOST_TEST(newest().body == conversation_body());
    BOOST_TEST(platform.counts().attempts == 1U);
    BOOST_TEST(found() == Ids{attempt.receipt.remote_id}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_root_that_goes_between_question_and_reply_is_a_definite_no, ReviewFixture) {
    platform.remove(root);
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(newest().place == place);
    BOOST_TEST(newest().body == conversation_body());
    BOOST_TEST(platform.visible().size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_reply_whose_answer_was_lost_is_found_wherever_it_went, ReviewFixture) {
    for (const bool gone : {false, true}) {
        if (gone) platform.remove(second);
        const auto before = platform.visible().size();
        rule({{"method", "POST"}, {"do", "apply_then_reset"}});
        BOOST_TEST(name_of(sink.create(post).answer) == "unknown");
        BOOST_TEST(platform.visible().size() == before + 1);
        BOOST_TEST(found() == Ids{text_of(newest().id)}, boost::test_tools::per_element());
        platform.remove(newest().id);
    }
}

BOOST_FIXTURE_TEST_CASE(twins_in_the_thread_are_removed_there_and_nowhere_else, ReviewFixture) {
    rule({{"method", "POST"}, {"do", "apply_twice"}});
    sink.create(post);
    const auto lookup = sink.find(post);
    BOOST_REQUIRE(lookup.found.size() == 2U);
    BOOST_TEST(sink.remove(post, lookup.found[1]));
    BOOST_TEST(sink.remove(post, lookup.found[1]), "gone is gone");
    BOOST_TEST(found() == Ids{lookup.found[0].remote_id}, boost::test_tools::per_element());
    // The same number, as a comment of the conversation: that one is no duplicate.
    const Receipt other{.remote_id = lookup.found[0].remote_id, .remote_url = "x#issuecomment-1"};
    BOOST_TEST(sink.remove(post, other), "there is none");
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(only_our_own_marker_counts_in_a_thread_too, ReviewFixture) {
    seed_review("mallory", "forged\n\n" + mark, text_of(root));
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(while_the_thread_cannot_be_asked_for_nothing_is_written, ReviewFixture) {
    struct Row {
        Json rule;
        std::string means;
    };
    const std::vector<Row> rows{
        {{{"do", "status"}, {"status", 502}}, "retry"},
        {{{"do", "status"}, {"status", 200}, {"answer", "?"}}, "retry"},
        {{{"do", "status"}, {"status", 401}}, "unauthorised"},
        {{{"do", "status"}, {"status", 403}, {"headers", {{"retry-after", "9"}}}}, "retry"},
        {{{"do", "reset"}, {"times", -1}}, "retry"},
    };
    for (const auto& row : rows) {
        auto scripted = row.rule;
        scripted["method"] = "GET";
        rule(scripted);
        BOOST_TEST(name_of(sink.create(post).answer) == row.means, row.rule.dump());
    }
    BOOST_TEST(platform.counts().attempts == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_lost_answer_of_a_reply_is_not_answered_in_the_conversation, ReviewFixture) {
    rule({{"method", "POST"}, {"path", "/replies$"}, {"do", "status"}, {"status", 502}});
    BOOST_TEST(name_of(sink.create(post).answer) == "unknown");
    BOOST_TEST(platform.visible().size() == 2U);
}
