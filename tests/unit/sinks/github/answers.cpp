// The GitHub sink without a server: what it asks for next is judged by the answers it was given.
#define BOOST_TEST_MODULE github_answers
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/format/marker.h"
#include "sinks/github/github.h"
#include "tests/unit/sinks/scripted.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using Asked = std::vector<std::string>;
using Json = nlohmann::json;

namespace {

const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};
const std::string api = "https://api.github.com";
const std::string comments = api + "/repos/octo/cat/issues/7/comments";
const std::string list = "GET " + comments + "?since=2026-11-21T09:55:00Z&per_page=100";
const std::string user = "GET " + api + "/user";

GithubSink sink() {
    return GithubSink({.token = "token", .mac_key = "key", .version = "0.1.0"});
}

Post post(std::optional<std::int64_t> review_comment = {}) {
    return {
        .delivery_id = id,
        .conversation_id = ConversationId("c"),
        .target =
            GithubTarget{
                .repo = "octo/cat", .number = 7, .review_comment_id = review_comment, .installation_id = {}},
        .body = "Done\n\n" + marker_line("key", id),
        .intent_at = parse_instant("2026-11-21T10:00:00.7Z").value()};
}

Json comment(std::int64_t number, const std::string& author, const std::string& at = "2026-11-21T10:00:01Z") {
    return {{"id", number},
            {"body", post().body},
            {"html_url", "https://github.com/octo/cat/issues/7#issuecomment-" + std::to_string(number)},
            {"user", {{"id", author == "bot" ? 1 : 2}, {"login", author}}},
            {"created_at", at}};
}

const Json bot{{"id", 1}, {"login", "bot"}};

}  // namespace

BOOST_AUTO_TEST_CASE(a_post_is_one_request_with_the_token_and_the_body) {
    auto github = sink();
    auto dialogue = github.create(post());
    const HttpRequest* request = dialogue.request();
    BOOST_TEST(request->method + " " + request->url == "POST " + comments);
    BOOST_TEST(Json::parse(request->body) == (Json{{"body", post().body}}));
    BOOST_TEST(request->headers.back() == "Authorization: Bearer token");
    dialogue.answer(answered(201, comment(5, "bot")));
    BOOST_TEST((dialogue.request() == nullptr));
    const Attempt attempt = dialogue.outcome();
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(attempt.receipt.remote_id == "5");
}

BOOST_AUTO_TEST_CASE(a_look_up_reads_from_five_minutes_before_the_intent_follows_pages_and_asks_who_we_are) {
    auto github = sink();
    const std::string second = comments + "?page=2";
    const auto newer = answered(200, Json::array({comment(9, "bot"), comment(8, "mallory")}),
                                {{"link", "<" + second + ">; rel=\"next\""}});
    const auto older =
        answered(200, Json::array({comment(6, "bot"), comment(4, "bot", "2026-11-21T09:54:59Z")}));
    const auto [lookup, asked] =
        scripted(github.find(post()), {newer, older, newer, older, answered(200, bot)});
    BOOST_TEST(asked == (Asked{list, "GET " + second, list, "GET " + second, user}),
               boost::test_tools::per_element());
    BOOST_TEST(lookup.ok);
    BOOST_REQUIRE(lookup.found.size() == 2U);
    BOOST_TEST(lookup.found[0].remote_id == "6", "the oldest first");
    BOOST_TEST(lookup.found[1].remote_id == "9");
}

BOOST_AUTO_TEST_CASE(what_is_removed_while_pages_are_read_hides_no_post) {
    auto github = sink();
    const std::string second = comments + "?page=2";
    const auto first_page = [&](const Json& page) {
        return answered(200, page, {{"link", "<" + second + ">; rel=\"next\""}});
    };
    // A comment of the first page is removed: the post that began the second one is now on the first.
    const auto [lookup, asked] = scripted(
        github.find(post()), {first_page(Json::array({comment(2, "alice"), comment(3, "bot")})),
                              answered(200, Json::array({comment(8, "alice")})),
                              first_page(Json::array({comment(3, "bot"), comment(6, "bot")})),
                              answered(200, Json::array({comment(8, "alice")})), answered(200, bot)});
    BOOST_REQUIRE(lookup.found.size() == 2U);
    BOOST_TEST(lookup.found[0].remote_id == "3");
    BOOST_TEST(lookup.found[1].remote_id == "6");
}

BOOST_AUTO_TEST_CASE(who_we_are_is_learned_from_a_post_and_remembered_between_dialogues) {
    auto github = sink();
    scripted(github.create(post()), {answered(201, comment(5, "bot"))});
    const auto [lookup, asked] =
        scripted(github.find(post()), {answered(200, Json::array({comment(5, "bot")}))});
    BOOST_TEST(asked == Asked{list}, boost::test_tools::per_element());
    BOOST_TEST(lookup.found.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_waiting_time_is_reckoned_from_the_platforms_own_clock_or_from_when_its_answer_came) {
    auto github = sink();
    auto limited = answered(403, Json::object(), {{"retry-after", "Sat, 21 Nov 2026 10:02:00 GMT"}});
    limited.received_at = parse_instant("2026-11-21T10:01:30Z").value();
    BOOST_TEST((scripted(github.create(post()), {limited}).first.not_before == 30s));
    limited.headers["date"] = "Sat, 21 Nov 2026 10:00:00 GMT";
    BOOST_TEST((scripted(github.create(post()), {limited}).first.not_before == 120s));
    BOOST_TEST((scripted(github.find(post()), {limited}).first.not_before == 120s));
}

BOOST_AUTO_TEST_CASE(a_reply_goes_to_the_root_and_to_the_conversation_only_after_a_definite_no) {
    auto github = sink();
    const std::string question = "GET " + api + "/repos/octo/cat/pulls/comments/12";
    const std::string replies = "POST " + api + "/repos/octo/cat/pulls/7/comments/11/replies";
    const HttpAnswer second_of_thread = answered(200, {{"id", 12}, {"in_reply_to_id", 11}});
    struct Row {
        std::vector<HttpAnswer> answers;
        Asked asked;
        std::string answer;
    };
    const std::vector<Row> rows{
        {{second_of_thread, answered(201, comment(5, "bot"))}, {question, replies}, "sent"},
        {{second_of_thread, lost()}, {question, replies}, "unknown"},
        {{second_of_thread, answered(404, {}), answered(201, comment(5, "bot"))},
         {question, replies, "POST " + comments},
         "sent"},
        {{answered(404, {}), answered(201, comment(5, "bot"))}, {question, "POST " + comments}, "sent"},
        {{lost()}, {question}, "retry"},
        {{answered(502, {})}, {question}, "retry"},
    };
    for (const Row& row : rows) {
        const auto [attempt, asked] = scripted(github.create(post(12)), row.answers);
        BOOST_TEST(name_of(attempt.answer) == row.answer);
        BOOST_TEST(asked == row.asked, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(a_page_that_is_lost_leaves_nothing_concluded) {
    auto github = sink();
    const auto first = answered(200, Json::array({comment(9, "bot")}),
                                {{"link", "<" + comments + "?page=2>; rel=\"next\""}});
    const auto lookup = scripted(github.find(post()), {first, lost()}).first;
    BOOST_TEST(!lookup.ok);
    BOOST_TEST(lookup.found.empty());
    BOOST_TEST((lookup.platform == PlatformState::answered));
    BOOST_TEST((scripted(github.find(post()), {lost()}).first.platform == PlatformState::failed));
}
