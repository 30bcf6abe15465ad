// The Slack sink without a server: what it asks for next is judged by the answers it was given.
#define BOOST_TEST_MODULE slack_answers
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/slack/slack.h"
#include "tests/unit/sinks/scripted.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using Asked = std::vector<std::string>;
using Json = nlohmann::json;

namespace {

const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};
const std::string api = "https://slack.com/api/";
const std::string post_message = "POST " + api + "chat.postMessage";
const std::string who = "GET " + api + "auth.test";
// Five minutes before the intent, in seconds.
const std::string replies = "GET " + api +
                            "conversations.replies?channel=C1&ts=1763715600.000100&oldest=1795254900.000000"
                            "&inclusive=true&include_all_metadata=true&limit=200";

SlackSink sink() {
    return SlackSink({.token = "token", .teams = {{"T2", "second"}}, .version = "0.1.0"});
}

Post post() {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = SlackTarget{.channel = "C1", .thread_ts = "1763715600.000100", .team_id = {}},
            .body = "**Done**",
            .intent_at = parse_instant("2026-11-21T10:00:00Z").value()};
}

Json message(const std::string& ts, const std::string& user) {
    return {{"ts", ts},
            {"user", user},
            {"metadata", {{"event_type", "epilogue_delivery"}, {"event_payload", {{"id", id}}}}}};
}

const HttpAnswer me = answered(200, {{"ok", true}, {"user_id", "U1"}});

}  // namespace

BOOST_AUTO_TEST_CASE(when_the_blocks_are_refused_the_same_dialogue_posts_the_text) {
    auto slack = sink();
    const HttpAnswer no_blocks = answered(200, {{"ok", false}, {"error", "invalid_blocks"}});
    const HttpAnswer posted = answered(200, {{"ok", true}, {"ts", "1.2"}});
    auto dialogue = slack.create(post());
    BOOST_TEST(Json::parse(dialogue.request()->body).contains("blocks"));
    dialogue.answer(no_blocks);
    const auto second = Json::parse(dialogue.request()->body);
    BOOST_TEST(!second.contains("blocks"));
    BOOST_TEST(second.value("text", "") == "*Done*");
    dialogue.answer(posted);
    BOOST_TEST((dialogue.request() == nullptr));
    BOOST_TEST(name_of(dialogue.outcome().answer) == "sent");
    BOOST_TEST(scripted(slack.create(post()), {lost()}).second == Asked{post_message},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_look_up_follows_cursors_and_compares_the_author) {
    auto slack = sink();
    const HttpAnswer first = answered(200, {{"ok", true},
                                            {"messages", {message("9.0", "U1"), message("8.0", "U2")}},
                                            {"response_metadata", {{"next_cursor", "a="}}}});
    const HttpAnswer second = answered(200, {{"ok", true}, {"messages", {message("7.0", "U1")}}});
    const auto [lookup, asked] = scripted(slack.find(post()), {first, second, me});
    BOOST_TEST(asked == (Asked{replies, replies + "&cursor=a%3D", who}), boost::test_tools::per_element());
    BOOST_REQUIRE(lookup.found.size() == 2U);
    BOOST_TEST(lookup.found[0].remote_id == "7.0");
    BOOST_TEST(lookup.found[1].remote_id == "9.0");
    BOOST_TEST(scripted(slack.find(post()), {second}).second == Asked{replies},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_token_is_a_dialogue_of_its_own) {
    auto slack = sink();
    auto checks = slack.check_tokens();
    BOOST_REQUIRE(checks.size() == 2U);
    std::vector<std::string> settings;
    for (auto& check : checks) {
        const auto [report, asked] = scripted(std::move(check), {me});
        BOOST_TEST(asked == Asked{who}, boost::test_tools::per_element());
        BOOST_TEST((report.state == TokenState::accepted));
        settings.push_back(report.setting);
    }
    BOOST_TEST(settings == (Asked{"[slack] token", "[slack.teams.T2] token"}),
               boost::test_tools::per_element());
}
