#define BOOST_TEST_MODULE webhook
#include "sinks/webhook/webhook.h"

#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "sinks/format/outcome_body.h"
#include "sinks/webhook/webhook_signature.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/scripted.h"
#include "tests/unit/sinks/sink_fixture.h"

using namespace epilogue;
using namespace epilogue::sink_test;

namespace {

const std::string old_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string new_secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

WebhookSettings settings_for(const FakePlatformServer& receiver) {
    WebhookSettings settings;
    settings.secrets = {new_secret};
    settings.endpoints["ci"] = {receiver.url("/webhook/ci"), {new_secret, old_secret}};
    settings.egress = std::make_shared<const EgressRules>();
    settings.now = [] { return Instant(std::chrono::seconds(1700000000)); };
    settings.version = "0.1.0";
    return settings;
}

Post post_to(WebhookTarget target) {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = std::move(target),
            .body = R"({"type":"conversation.turn_ended"})",
            .intent_at = system_now()};
}

struct Fixture : SinkFixture<WebhookSink> {
    Fixture() : SinkFixture(settings_for, post_to({.endpoint = "ci", .url = {}})) {}
};

/// The request that a post becomes.
HttpRequest request_of(const FakePlatformServer& receiver, WebhookTarget target) {
    WebhookSink sink(settings_for(receiver));
    auto dialogue = sink.create(post_to(std::move(target)));
    HttpRequest* const request = dialogue.request();
    BOOST_REQUIRE(request != nullptr);
    return *request;
}

std::string header_in(const HttpRequest& request, const std::string& name) {
    for (const std::string& header : request.headers)
        if (header.starts_with(name + ": ")) return header.substr(name.size() + 2);
    return "";
}

Summary whole_summary() {
    Summary summary{.headline = "**Finished**, with problems",
                    .final_message = "I changed the *clock*.\n\n- one\n- two\n\n```\ncode\n```",
                    .facts = "- Changed: `a.py`",
                    .link = "https://app.example.com/conversations/c1"};
    summary.about = {.conversation_id = "c1",
                     .turn = "t1",
                     .verdict = "finished",
                     .outcome = "done_with_problems",
                     .error_code = "",
                     .requests = {"https://github.com/o/r/pull/7", "javascript:alert(1)"},
                     .steps = 12,
                     .seconds = 340,
                     .tokens_in = 1000,
                     .tokens_out = 200,
                     .cost = 21000};
    return summary;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_signed_request, Fixture) {
    const Attempt attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
    BOOST_TEST(attempt.receipt.remote_id == id.text());
    const auto taken = platform.visible();
    BOOST_REQUIRE(taken.size() == 1U);
    BOOST_TEST(taken[0].body == post.body);
    BOOST_TEST(taken[0].thread == id.text());
}

BOOST_FIXTURE_TEST_CASE(the_id_stays_the_time_is_the_attempts_and_each_secret_signs, Fixture) {
    const HttpRequest request = request_of(platform, {.endpoint = "ci", .url = {}});
    BOOST_TEST(header_in(request, "webhook-id") == id.text());
    BOOST_TEST(header_in(request, "webhook-timestamp") == "1700000000");
    const auto signed_with = [&](const std::string& secret) {
        return webhook_signature(webhook_key(secret).value(), id.text(), "1700000000", request.body);
    };
    BOOST_TEST(header_in(request, "webhook-signature") ==
               signed_with(new_secret) + " " + signed_with(old_secret));
}

BOOST_FIXTURE_TEST_CASE(what_may_have_arrived_is_sent_again_and_taken_once, Fixture) {
    for (const char* fault : {"apply_then_reset", "apply_then_hang", "half_answer"}) {
        platform.reset();
        rule({{"do", fault}, {"method", "POST"}});
        const SinkCalls impatient =
            called<WebhookSink>(settings_for(platform), std::chrono::milliseconds(500));
        BOOST_TEST(name_of(impatient.create(post).answer) == "unknown", fault);
        BOOST_TEST(sink.find(post).ok);
        BOOST_TEST(sink.find(post).found.empty());
        BOOST_TEST(name_of(sink.create(post).answer) == "sent");
        BOOST_TEST(platform.visible().size() == 1U, fault);
    }
}

BOOST_AUTO_TEST_CASE(each_answer_means_what_the_specification_says) {
    const std::vector<std::pair<std::vector<int>, std::string>> meanings{
        {{200, 201, 202, 204, 299}, "sent"},
        {{408, 425, 429, 500, 502, 503, 504}, "retry"},
        {{401, 403}, "unauthorised"},
        {{301, 302, 307, 308, 400, 404, 405, 410, 413, 422}, "refused"}};
    for (const auto& [statuses, meaning] : meanings)
        for (const int status : statuses)
            BOOST_TEST(name_of(classify_webhook(answered(status, Json::object())).answer) == meaning, status);
    BOOST_TEST(name_of(classify_webhook(lost()).answer) == "unknown");
    BOOST_TEST(name_of(classify_webhook(lost(HttpOutcome::not_sent)).answer) == "retry");
}

BOOST_AUTO_TEST_CASE(a_receiver_that_names_a_time_is_left_alone_so_long) {
    for (const int status : {429, 503}) {
        const auto attempt = classify_webhook(answered(status, Json::object(), {{"retry-after", "120"}}));
        BOOST_TEST(attempt.rate_limited);
        BOOST_TEST((attempt.not_before == std::chrono::seconds(120)));
    }
    BOOST_TEST(!classify_webhook(answered(503, Json::object())).rate_limited);
}

BOOST_AUTO_TEST_CASE(an_answers_body_is_not_repeated) {
    const auto attempt = classify_webhook(answered(500, {{"secret", "of an internal host"}}));
    BOOST_TEST(attempt.cause == "500");
}

BOOST_FIXTURE_TEST_CASE(an_address_in_a_row_is_not_followed_inside, Fixture) {
    const Attempt attempt = sink.create(post_to({.endpoint = {}, .url = platform.url("/webhook/ci")}));
    BOOST_TEST(name_of(attempt.answer) == "refused");
    BOOST_TEST(attempt.cause.find("[egress] allow") != std::string::npos, attempt.cause);
    BOOST_TEST((attempt.platform == PlatformState::not_asked));
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(an_address_in_a_row_that_is_allowed_is_followed, Fixture) {
    auto settings = settings_for(platform);
    settings.egress = std::make_shared<const EgressRules>(std::vector<std::string>{"127.0.0.1"});
    const SinkCalls allowed = called<WebhookSink>(std::move(settings));
    const Attempt attempt = allowed.create(post_to({.endpoint = {}, .url = platform.url("/webhook/ci")}));
    BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
}

BOOST_FIXTURE_TEST_CASE(without_a_secret_or_an_endpoint_nothing_is_sent, Fixture) {
    auto settings = settings_for(platform);
    settings.secrets.clear();
    const SinkCalls bare = called<WebhookSink>(std::move(settings));
    const auto unsigned_post = bare.create(post_to({.endpoint = {}, .url = "https://example.com/"}));
    BOOST_TEST(name_of(unsigned_post.answer) == "unauthorised");
    BOOST_TEST(unsigned_post.cause == "no secret to sign with: set [webhook] secrets");
    const auto unknown_endpoint = bare.create(post_to({.endpoint = "cd", .url = {}}));
    BOOST_TEST(name_of(unknown_endpoint.answer) == "unauthorised");
    BOOST_TEST(unknown_endpoint.cause == "no secret to sign with: set [webhook.endpoints.cd]");
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(a_receiver_that_is_down_holds_up_no_other, Fixture) {
    const auto credential = [&](WebhookTarget target) {
        return sink.quota(Target(std::move(target))).credential;
    };
    BOOST_TEST(credential({.endpoint = "ci", .url = {}}) !=
               credential({.endpoint = {}, .url = "https://a.example/x"}));
    BOOST_TEST(credential({.endpoint = {}, .url = "https://a.example/x"}) ==
               credential({.endpoint = {}, .url = "https://a.example/y"}));
    BOOST_TEST(credential({.endpoint = {}, .url = "https://a.example/x"}) !=
               credential({.endpoint = {}, .url = "https://b.example/x"}));
}

BOOST_AUTO_TEST_CASE(the_body_tells_the_outcome_for_people_and_programs) {
    const Json body = Json::parse(outcome_body(whole_summary(), id));
    BOOST_TEST(body["type"] == "conversation.turn_ended");
    const Json& data = body["data"];
    BOOST_TEST(data["delivery"] == id.text());
    BOOST_TEST(data["conversation"] == "c1");
    BOOST_TEST(data["turn"] == "t1");
    BOOST_TEST(data["verdict"] == "finished");
    BOOST_TEST(data["outcome"] == "done_with_problems");
    BOOST_TEST(data["error_code"].is_null());
    BOOST_TEST(data["summary"]["text"] ==
               "Finished, with problems\n\nI changed the clock.\n\n- one\n- two\n\ncode\n\n- Changed: a.py");
    BOOST_TEST(data["summary"]["markdown"].get<std::string>().starts_with("**Finished**, with problems\n\n"));
    BOOST_TEST(data["links"]["conversation"] == "https://app.example.com/conversations/c1");
    BOOST_TEST(data["links"]["requests"] == Json::array({"https://github.com/o/r/pull/7"}));
    BOOST_TEST(data["figures"] == Json({{"steps", 12},
                                        {"seconds", 340},
                                        {"tokens_in", 1000},
                                        {"tokens_out", 200},
                                        {"cost_micro_usd", 21000}}));
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_null) {
    const Json data = Json::parse(
        outcome_body({.headline = "**Finished**", .final_message = {}, .facts = {}, .link = {}}, id))["data"];
    for (const char* name : {"conversation", "turn", "verdict", "outcome", "error_code"})
        BOOST_TEST(data[name].is_null(), name);
    BOOST_TEST(data["figures"]["seconds"].is_null());
}

BOOST_AUTO_TEST_CASE(no_hostile_summary_is_alive_in_a_body) {
    for (const auto& [kind, words, absent] : hostile::cases()) {
        const Json data = Json::parse(outcome_body(
            {.headline = "**Finished**", .final_message = words, .facts = words, .link = {}}, id))["data"];
        BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
        const auto markdown = data["summary"]["markdown"].get<std::string>();
        BOOST_TEST(hostile::alive_in_markdown(markdown) == "");
        for (const auto& part : absent) {
            BOOST_TEST(hostile::visible(markdown).find(part) == std::string::npos, part);
            BOOST_TEST(
                hostile::visible(data["summary"]["text"].get<std::string>()).find(part) == std::string::npos,
                part);
        }
    }
}
