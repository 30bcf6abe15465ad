// The GitLab sink without a server: what it asks for next is judged by the answers it was given.
#define BOOST_TEST_MODULE gitlab_answers
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/format/marker.h"
#include "sinks/gitlab/gitlab.h"
#include "tests/unit/sinks/scripted.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using Asked = std::vector<std::string>;
using Json = nlohmann::json;

namespace {

const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};
const std::string notes = "https://gitlab.com/api/v4/projects/a%2Fb/issues/7/notes";
const std::string user = "GET https://gitlab.com/api/v4/user";

GitlabSink sink() {
    return GitlabSink({.token = "token", .mac_key = "key", .version = "0.1.0"});
}

Post post() {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = GitlabTarget{.project = "a/b", .iid = 7, .merge_request = false, .discussion_id = {}},
            .body = "Done\n\n" + marker_line("key", id),
            .intent_at = parse_instant("2026-11-21T10:00:00Z").value()};
}

std::string page(int number) {
    return "GET " + notes + "?sort=desc&order_by=created_at&per_page=100&page=" + std::to_string(number);
}

Json note(std::int64_t number, const std::string& author, const std::string& at = "2026-11-21T10:00:01Z",
          const std::string& body = post().body) {
    return {{"id", number},
            {"body", body},
            {"author", {{"id", author == "bot" ? 1 : 2}, {"username", author}}},
            {"created_at", at}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_full_page_is_followed_by_the_next_until_a_note_is_older_than_the_window) {
    Json full = Json::array({note(900, "bot")});
    while (full.size() < 100) full.push_back(note(500, "alice", "2026-11-21T10:00:00Z", "words"));
    auto gitlab = sink();
    const auto rest = answered(
        200, Json::array({note(3, "bot", "2026-11-21T09:55:00Z"), note(2, "bot", "2026-11-21T09:54:59Z")}));
    const auto [lookup, asked] =
        scripted(gitlab.find(post()), {answered(200, full), rest, answered(200, full), rest,
                                       answered(200, {{"id", 1}, {"username", "bot"}})});
    BOOST_TEST(asked == (Asked{page(1), page(2), page(1), page(2), user}), boost::test_tools::per_element());
    BOOST_REQUIRE(lookup.found.size() == 2U);
    BOOST_TEST(lookup.found[0].remote_id == "3");
    BOOST_TEST(lookup.found[0].remote_url == notes + "/3");
    BOOST_TEST(lookup.found[1].remote_id == "900");
}

BOOST_AUTO_TEST_CASE(a_post_is_one_request_and_tells_who_we_are) {
    auto gitlab = sink();
    const auto [attempt, asked] = scripted(gitlab.create(post()), {answered(201, note(5, "bot"))});
    BOOST_TEST(asked == Asked{"POST " + notes}, boost::test_tools::per_element());
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(attempt.receipt.remote_url == notes + "/5");
    const auto [lookup, looked] =
        scripted(gitlab.find(post()), {answered(200, Json::array({note(6, "mallory"), note(5, "bot")}))});
    BOOST_TEST(looked == Asked{page(1)}, boost::test_tools::per_element());
    BOOST_TEST(lookup.found.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_limit_and_a_lost_answer_mean_what_they_say) {
    auto gitlab = sink();
    const auto limited = scripted(gitlab.create(post()), {answered(429, {}, {{"retry-after", "40"}})}).first;
    BOOST_TEST(limited.rate_limited);
    BOOST_TEST((limited.not_before == 40s));
    BOOST_TEST(name_of(scripted(gitlab.create(post()), {lost()}).first.answer) == "unknown");
    BOOST_TEST(name_of(scripted(gitlab.create(post()), {lost(HttpOutcome::not_sent)}).first.answer) ==
               "retry");
    BOOST_TEST(scripted(gitlab.remove(post(), {"5", ""}), {answered(404, {})}).first);
    BOOST_TEST(!scripted(gitlab.remove(post(), {"5", ""}), {lost()}).first);
}
