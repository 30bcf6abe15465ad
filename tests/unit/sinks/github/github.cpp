#define BOOST_TEST_MODULE github
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "github_fixture.h"

using namespace epilogue;
using namespace epilogue::github_test;

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_comment_word_for_word, Fixture) {
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(attempt.cause.empty());
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].body == post.body);
    BOOST_TEST(visible[0].place == place);
    BOOST_TEST(attempt.receipt.remote_id == text_of(visible[0].id));
    BOOST_TEST(
        attempt.receipt.remote_url.ends_with("/octo/cat/issues/7#issuecomment-" + text_of(visible[0].id)));
    BOOST_TEST(platform.counts().attempts == 1U);
}

BOOST_FIXTURE_TEST_CASE(each_answer_means_what_the_protocol_says, Fixture) {
    const Json none = Json::object();
    const std::string locked = "Unable to create comment because issue is locked.";
    struct Row {
        int status;
        std::string message;
        Json headers;
        std::string answer;
        std::string cause;
    };
    const std::vector<Row> rows{
        {200, "odd", none, "unknown", "200 without a readable comment"},
        {201, "no id", none, "unknown", "201 without a readable comment"},
        {204, "", none, "unknown", "204 without a readable comment"},
        {301,
         "Moved Permanently",
         {{"location", "https://api.github.com/repositories/1/issues/7/comments"}},
         "refused",
         "301 moved to /repositories/1/issues/7/comments"},
        {307, "", {{"location", "/elsewhere"}}, "refused", "307 moved to /elsewhere"},
        {400, "Problems parsing JSON", none, "refused", "400 Problems parsing JSON"},
        {401, "Bad credentials", none, "unauthorised", "401 Bad credentials"},
        {403, "Resource not accessible by integration", none, "unauthorised",
         "403 Resource not accessible by integration"},
        {403, "User is blocked", none, "unauthorised", "403 User is blocked"},
        {403, locked, none, "refused", "403 " + locked},
        {403, locked, {{"x-ratelimit-remaining", "12"}}, "refused", "403 " + locked},
        {404, "Not Found", none, "refused", "404 Not Found"},
        {408, "", none, "unknown", "408"},
        {410, "This issue was deleted", none, "refused", "410 This issue was deleted"},
        {413, "", none, "refused", "413"},
        {422, "Validation\nFailed", none, "refused", "422 Validation Failed"},
        {451, "", none, "refused", "451"},
        {500, "", none, "unknown", "500"},
        {502, "Bad\x1b Gateway", none, "unknown", "502 Bad Gateway"},
        {503, "", {{"retry-after", "3"}}, "unknown", "503"},
        {504, "", none, "unknown", "504"},
    };
    for (const auto& row : rows) {
        answers("POST", row.status, row.message, row.headers);
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == row.answer, row.status << " " << row.message);
        BOOST_TEST(attempt.cause == row.cause);
        BOOST_TEST(!attempt.not_before.has_value());
    }
    BOOST_TEST(platform.counts().attempts == rows.size());
    BOOST_TEST(platform.visible().empty());
}

BOOST_FIXTURE_TEST_CASE(a_limit_is_obeyed_in_full, Fixture) {
    const auto in = [](std::chrono::seconds wait) {
        return fmt::format(
            "{}", (std::chrono::ceil<std::chrono::seconds>(system_now()) + wait).time_since_epoch().count());
    };
    struct Row {
        int status;
        std::string message;
        Json headers;
        std::chrono::seconds at_least;
        std::chrono::seconds at_most;
    };
    const std::vector<Row> rows{
        {403, "x", {{"retry-after", "17"}}, 17s, 17s},
        {429, "x", {{"Retry-After", "3600"}}, 3600s, 3600s},
        {429, "x", {{"retry-after", "0"}}, 0s, 0s},
        {429,
         "x",
         {{"retry-after", "17"}, {"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", in(900s)}},
         17s,
         17s},
        {403,
         "x",
         {{"date", "Sat, 21 Nov 2026 10:00:00 GMT"}, {"retry-after", "Sat, 21 Nov 2026 10:02:00 GMT"}},
         120s,
         120s},
        {429,
         "x",
         {{"date", "Sat, 21 Nov 2026 10:00:00 GMT"}, {"retry-after", "Sat, 21 Nov 2026 09:00:00 GMT"}},
         0s,
         0s},
        {403, "x", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", in(900s)}}, 880s, 901s},
        {403, "x", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1"}}, 1s, 1s},
        {403, "x", {{"x-ratelimit-remaining", "0"}}, 60s, 60s},
        {403,
         "You have exceeded a secondary rate limit.",
         {{"x-ratelimit-remaining", "99"}, {"x-ratelimit-reset", in(900s)}},
         60s,
         60s},
        {403, "API Rate Limit exceeded", Json::object(), 60s, 60s},
        {403, "You have triggered an abuse detection mechanism", Json::object(), 60s, 60s},
        {403, "x", {{"retry-after", "soon"}}, 60s, 60s},
        {429, "x", Json::object(), 60s, 60s},
        {429, "x", {{"retry-after", "99999999999999999999"}}, 24h * 30, 24h * 30},
    };
    for (const auto& row : rows) {
        answers("POST", row.status, row.message, row.headers);
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == "retry", row.message);
        BOOST_TEST(attempt.cause == fmt::format("{} rate limited", row.status));
        BOOST_REQUIRE(attempt.not_before.has_value());
        BOOST_TEST(attempt.not_before->count() >= row.at_least.count());
        BOOST_TEST(attempt.not_before->count() <= row.at_most.count());
    }
}

BOOST_FIXTURE_TEST_CASE(a_lost_answer_is_unknown_whether_applied_or_not, Fixture) {
    std::size_t applied = 0;
    for (const std::string deed : {"reset", "apply_then_reset", "half_answer", "apply_then_status"}) {
        rule({{"method", "POST"}, {"do", deed}, {"status", 502}});
        BOOST_TEST(name_of(sink.create(post).answer) == "unknown", deed);
        applied += deed == "reset" ? 0U : 1U;
        BOOST_TEST(platform.visible().size() == applied, deed);
    }
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_does_not_come_is_unknown_in_time, Fixture) {
    const auto hasty = called<GithubSink>(settings_for(platform), 300ms);
    for (const std::string deed : {"hang", "apply_then_hang"}) {
        rule({{"method", "POST"}, {"do", deed}});
        BOOST_TEST(name_of(hasty.create(post).answer) == "unknown", deed);
    }
    platform.release(true);
}

BOOST_AUTO_TEST_CASE(nobody_listening_is_a_definite_no) {
    GithubSettings settings;
    {
        const FakePlatformServer gone;
        settings = settings_for(gone);
    }
    const auto sink = called<GithubSink>(settings);
    const auto attempt = sink.create(post_to(repo, 7));
    BOOST_TEST(name_of(attempt.answer) == "retry");
    BOOST_TEST(!attempt.cause.empty());
    BOOST_TEST(!attempt.not_before.has_value());
    const auto lookup = sink.find(post_to(repo, 7));
    BOOST_TEST(!lookup.ok);
    BOOST_TEST(!lookup.forbidden);
}

BOOST_FIXTURE_TEST_CASE(a_locked_or_missing_issue_refuses, Fixture) {
    platform.set_place("github", place, fake_platform::PlaceState::locked);
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    platform.set_place("github", place, fake_platform::PlaceState::missing);
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    platform.set_place("github", place, fake_platform::PlaceState::gone);
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
}

BOOST_FIXTURE_TEST_CASE(without_a_token_nothing_is_asked, Fixture) {
    auto settings = settings_for(platform);
    settings.token = " \n";
    const auto bare = called<GithubSink>(settings);
    const auto attempt = bare.create(post);
    BOOST_TEST(name_of(attempt.answer) == "unauthorised");
    BOOST_TEST(attempt.cause == "no token: set [github] token, or app_id and private_key");
    const auto lookup = bare.find(post);
    BOOST_TEST(!lookup.ok);
    BOOST_TEST(lookup.forbidden);
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(a_target_that_would_lead_elsewhere_is_never_asked, Fixture) {
    for (const std::string bad :
         {"", "octo", "octo/", "/cat", "octo/..", "../cat", "octo/cat/issues", "octo/c?t", "o%2f/c"}) {
        BOOST_TEST(name_of(sink.create(post_to(bad, 7)).answer) == "refused", bad);
        BOOST_TEST(!sink.find(post_to(bad, 7)).ok);
    }
    BOOST_TEST(name_of(sink.create(post_to(repo, 0)).answer) == "refused");
    post.target = ForeignTarget{};
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    const Receipt odd{.remote_id = "1/../2", .remote_url = {}};
    BOOST_TEST(!sink.remove(post_to(repo, 7), odd));
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(a_rendered_summary_is_taken_and_found, Fixture) {
    post.body = sink.render({.headline = "**Finished**",
                             .final_message = std::string(200000, 'w') + " @all <!-- ",
                             .facts = "- 3 commands",
                             .link = "https://app.example.com/conversations/c"},
                            id);
    BOOST_TEST(post.body.ends_with("\n" + mark));
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(found().size() == 1U);
}
