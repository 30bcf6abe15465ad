#define BOOST_TEST_MODULE slack
#include "sinks/slack/slack.h"

#include <chrono>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/unit/sinks/sink_fixture.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using fake_platform::bot_login;

namespace {

const std::string channel = "C0456EFGH";
const std::string parent = "1763715600.000100";

Json metadata_of(const std::string& delivery) {
    return {{"event_type", "epilogue_delivery"}, {"event_payload", {{"id", delivery}}}};
}

Post post_to(std::string thread, std::string team = "") {
    return {
        .delivery_id = id,
        .conversation_id = ConversationId("c"),
        .target = SlackTarget{.channel = channel, .thread_ts = std::move(thread), .team_id = std::move(team)},
        .body = "**Finished**\n\nAll [done](https://x.example) — 🚀",
        .intent_at = system_now()};
}

SlackSettings settings_for(const FakePlatformServer& platform) {
    return {
        .api_url = platform.url("/slack"), .token = "token", .teams = {{"T2", "second"}}, .version = "0.1.0"};
}

struct Fixture : SinkFixture<SlackSink> {
    Fixture() : SinkFixture(settings_for, post_to(parent)) {}

    void says(const std::string& path, const Json& answer, int status = 200,
              const Json& headers = Json::object()) {
        rule(
            {{"path", path}, {"do", "status"}, {"status", status}, {"headers", headers}, {"answer", answer}});
    }
    void fails(const std::string& path, const std::string& error) {
        says(path, {{"ok", false}, {"error", error}});
    }
    void seed(const std::string& author, const Json& metadata, const std::string& thread = parent,
              Instant at = system_now()) {
        fake_platform::Comment message;
        message.platform = "slack";
        message.place = channel;
        message.author = author;
        message.body = "text";
        message.thread = thread;
        message.metadata = metadata.is_null() ? "" : metadata.dump();
        message.created_at = at;
        platform.seed(std::move(message));
    }
    Json sent(std::size_t n) const { return Json::parse(platform.log().at(n).body); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_message_in_its_thread, Fixture) {
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent");
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].body == post.body);
    BOOST_TEST(visible[0].place == channel);
    BOOST_TEST(visible[0].thread == parent);
    BOOST_TEST(attempt.receipt.remote_url.starts_with("https://slack.com/archives/" + channel + "/p"));
    BOOST_TEST(platform.counts().attempts == 1U);
    const auto message = sent(0);
    BOOST_TEST(message.at("text") == "*Finished*\n\nAll <https://x.example|done> — 🚀");
    BOOST_TEST(message.at("metadata") == metadata_of(id));
    BOOST_TEST(message.at("parse") == "none");
    BOOST_TEST(message.at("unfurl_links") == false);
    BOOST_TEST(message.at("unfurl_media") == false);
    BOOST_TEST(!message.contains("link_names"));
}

BOOST_FIXTURE_TEST_CASE(without_a_thread_it_stands_in_the_channel, Fixture) {
    post = post_to("");
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(!sent(0).contains("thread_ts"));
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(each_workspace_has_its_token_and_the_others_the_default, Fixture) {
    platform.accept_tokens({"second"});
    BOOST_TEST(name_of(sink.create(post_to(parent, "T2")).answer) == "sent");
    BOOST_TEST(name_of(sink.create(post_to(parent, "T3")).answer) == "unauthorised");
    platform.accept_tokens({"token"});
    BOOST_TEST(name_of(sink.create(post_to(parent, "T3")).answer) == "sent");
    BOOST_TEST(name_of(sink.create(post_to(parent)).answer) == "sent");
    BOOST_TEST(name_of(sink.create(post_to(parent, "T2")).answer) == "unauthorised");
}

BOOST_FIXTURE_TEST_CASE(a_rendered_summary_fits_and_so_does_its_text, Fixture) {
    post.body = sink.render({.headline = "**Finished**",
                             .final_message = std::string(20000, '&') + " @all",
                             .facts = "- 3 commands",
                             .link = "https://app.example.com/c"},
                            id);
    BOOST_TEST(code_points(post.body) <= 12000U);
    BOOST_TEST(post.body.find("<!--") == std::string::npos);
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(code_points(sent(0).at("text").get<std::string>()) + code_points(post.body) <= 13000U);
}

BOOST_FIXTURE_TEST_CASE(refused_blocks_are_posted_as_text, Fixture) {
    for (const std::string error : {"invalid_blocks", "msg_blocks_too_long"}) {
        platform.reset();
        fails("postMessage$", error);
        BOOST_TEST(name_of(sink.create(post).answer) == "sent");
        BOOST_REQUIRE(platform.visible().size() == 1U);
        BOOST_TEST(platform.visible()[0].body == "*Finished*\n\nAll <https://x.example|done> — 🚀");
        BOOST_TEST(!sent(1).contains("blocks"));
        BOOST_TEST(found().size() == 1U);
    }
}

BOOST_FIXTURE_TEST_CASE(each_answer_means_what_the_protocol_says, Fixture) {
    const auto no = [](const std::string& error) { return Json{{"ok", false}, {"error", error}}; };
    struct Row {
        int status;
        Json answer;
        std::string means;
        std::string cause;
    };
    const std::vector<Row> rows{
        {200, no("fatal_error"), "unknown", "fatal_error"},
        {200, no("internal_error"), "unknown", "internal_error"},
        {200, no("service_unavailable"), "unknown", "service_unavailable"},
        {200, no("duplicate_message_not_found"), "unknown", "duplicate_message_not_found"},
        {200, no("invalid_auth"), "unauthorised", "invalid_auth"},
        {200, no("missing_scope"), "unauthorised", "missing_scope"},
        {200, no("token_revoked"), "unauthorised", "token_revoked"},
        {200, no("account_inactive"), "unauthorised", "account_inactive"},
        {200, no("channel_not_found"), "refused", "channel_not_found"},
        {200, no("not_in_channel"), "refused", "not_in_channel"},
        {200, no("is_archived"), "refused", "is_archived"},
        {200, no("msg_too_long"), "refused", "msg_too_long"},
        {200, no("metadata_too_large"), "refused", "metadata_too_large"},
        {200, no("invalid_metadata_schema"), "refused", "invalid_metadata_schema"},
        {200, no("restricted_action_thread_locked"), "refused", "restricted_action_thread_locked"},
        {200, no("something_new"), "refused", "something_new"},
        {200, {{"ok", true}}, "unknown", "200 without a readable message"},
        {200, "<html>", "unknown", "200 without a readable message"},
        {200, Json::array(), "unknown", "200 without a readable message"},
        {302, "", "refused", "302"},
        {400, "", "refused", "400"},
        {401, "", "unauthorised", "401"},
        {403, "", "unauthorised", "403"},
        {404, "", "refused", "404"},
        {408, "", "unknown", "408"},
        {500, no("internal_error"), "unknown", "internal_error"},
        {503, "", "unknown", "503"},
    };
    for (const auto& row : rows) {
        says("postMessage$", row.answer, row.status);
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == row.means, row.cause);
        BOOST_TEST(attempt.cause == row.cause);
        BOOST_TEST(!attempt.not_before.has_value());
    }
    BOOST_TEST(platform.visible().empty());
    BOOST_TEST(platform.counts().attempts == rows.size());
}

BOOST_FIXTURE_TEST_CASE(a_limit_is_obeyed_with_and_without_a_header, Fixture) {
    for (const int status : {200, 429}) {
        says("postMessage$", {{"ok", false}, {"error", "ratelimited"}}, status, {{"retry-after", "17"}});
        const auto limited = sink.create(post);
        BOOST_TEST(name_of(limited.answer) == "retry");
        BOOST_REQUIRE(limited.not_before.has_value());
        BOOST_TEST(limited.not_before->count() == 17);
        says("postMessage$", {{"ok", false}, {"error", "ratelimited"}}, status);
        const auto bare = sink.create(post);
        BOOST_TEST(name_of(bare.answer) == "retry");
        BOOST_TEST(!bare.not_before.has_value());
    }
}

BOOST_FIXTURE_TEST_CASE(a_lost_answer_is_unknown_and_found_again, Fixture) {
    for (const std::string deed : {"apply_then_reset", "half_answer", "apply_then_status"}) {
        platform.reset();
        rule({{"path", "postMessage$"}, {"do", deed}, {"status", 502}});
        BOOST_TEST(name_of(sink.create(post).answer) == "unknown", deed);
        BOOST_TEST(found().size() == 1U, deed);
    }
    platform.reset();
    rule({{"path", "postMessage$"}, {"do", "reset"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "unknown");
    BOOST_TEST(found().size() == 0U);
    const auto hasty = called<SlackSink>(settings_for(platform), 300ms);
    rule({{"path", "postMessage$"}, {"do", "apply_then_hang"}});
    BOOST_TEST(name_of(hasty.create(post).answer) == "unknown");
    platform.release(true);
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(twins_are_seen_oldest_first_and_can_be_removed, Fixture) {
    for (const auto& thread : {std::string(), parent}) {
        platform.reset();
        post = post_to(thread);
        rule({{"path", "postMessage$"}, {"do", "apply_twice"}});
        const auto attempt = sink.create(post);
        const auto lookup = sink.find(post);
        BOOST_REQUIRE(lookup.found.size() == 2U);
        BOOST_TEST(lookup.found[0].remote_id == attempt.receipt.remote_id);
        BOOST_TEST(lookup.found[0].remote_url == attempt.receipt.remote_url);
        BOOST_TEST(sink.remove(post, lookup.found[1]));
        BOOST_TEST(sink.remove(post, lookup.found[1]), "gone is gone");
        BOOST_TEST(found().size() == 1U);
        fails("chat.delete$", "cant_delete_message");
        BOOST_TEST(!sink.remove(post, lookup.found[0]));
    }
    BOOST_CHECK(sink.duplicate_check() == DuplicateCheck::after_unknown);
}

BOOST_FIXTURE_TEST_CASE(only_our_own_message_with_the_whole_id_counts, Fixture) {
    seed("mallory", metadata_of(id));
    seed(bot_login, metadata_of("2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b12"));
    seed(bot_login, {{"event_type", "another_app"}, {"event_payload", {{"id", id}}}});
    seed(bot_login, nullptr);
    seed(bot_login, metadata_of(id), "1763715600.000200");
    seed(bot_login, metadata_of(id), parent, system_now() - 1h);
    BOOST_TEST(found().size() == 0U);
    seed(bot_login, metadata_of(id));
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(all_pages_are_read, Fixture) {
    for (int i = 0; i < 250; ++i) seed("somebody", nullptr);
    seed(bot_login, metadata_of(id));
    for (int i = 0; i < 250; ++i) seed("somebody", nullptr);
    BOOST_TEST(found().size() == 1U);
    std::size_t pages = 0;
    for (const auto& entry : platform.log()) pages += entry.path.ends_with("conversations.replies") ? 1U : 0U;
    BOOST_TEST(pages == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_message_that_is_hidden_for_a_while_is_seen_then, Fixture) {
    rule({{"path", "postMessage$"}, {"do", "hide"}, {"ms", 300}});
    sink.create(post);
    BOOST_TEST(found().size() == 0U);
    platform.wait_until([](const auto&) { return false; }, 400ms);
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_look_up_that_fails_says_whether_waiting_helps, Fixture) {
    struct Row {
        std::string error;
        bool forbidden;
    };
    const std::vector<Row> rows{{"missing_scope", true},     {"not_in_channel", true},
                                {"channel_not_found", true}, {"thread_not_found", true},
                                {"invalid_auth", true},      {"fatal_error", false},
                                {"internal_error", false}};
    for (const auto& row : rows) {
        fails("conversations", row.error);
        const auto lookup = sink.find(post);
        BOOST_TEST(!lookup.ok);
        BOOST_TEST(lookup.forbidden == row.forbidden, row.error);
        BOOST_TEST(lookup.cause == row.error);
    }
    says("conversations", {{"ok", false}, {"error", "ratelimited"}}, 429, {{"retry-after", "60"}});
    BOOST_TEST(sink.find(post).not_before.value().count() == 60);
    says("conversations", {{"ok", true}});
    BOOST_TEST(sink.find(post).cause == "200 without a readable list of messages");
    seed(bot_login, metadata_of(id));
    fails("auth.test$", "internal_error");
    BOOST_TEST(!sink.find(post).ok, "who we are is not known");
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(without_a_token_or_a_channel_nothing_is_asked, Fixture) {
    auto settings = settings_for(platform);
    settings.token = " \n";
    const auto bare = called<SlackSink>(settings);
    BOOST_TEST(name_of(bare.create(post).answer) == "unauthorised");
    BOOST_TEST(bare.find(post).forbidden);
    std::any_cast<SlackTarget&>(post.target).channel = "C1&ts=2";
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(!sink.find(post).ok);
    post.target = ForeignTarget{};
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(!sink.remove(post, {.remote_id = "1.2", .remote_url = {}}));
    BOOST_TEST(platform.log().empty());
}
