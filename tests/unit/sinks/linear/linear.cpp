#define BOOST_TEST_MODULE linear
#include "sinks/linear/linear.h"

#include <boost/test/unit_test.hpp>

#include "sinks/linear/linear_answers.h"
#include "sinks/processor.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/scripted.h"
#include "tests/unit/sinks/sink_fixture.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using fake_platform::bot_login;

namespace {

const std::string issue = "9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a";
const std::string comment_id = "2b4e1c9a-0d5f-4a53-9c55-0a7c3f6f1b11";
const Summary finished{.headline = "**Finished**", .final_message = "All done — 🚀", .facts = {}, .link = {}};

LinearSettings settings_for(const FakePlatformServer& platform) {
    return {.api_url = platform.url("/linear/graphql"), .token = "token", .version = "0.1.0"};
}

Post post_to(LinearTarget target) {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = std::move(target),
            .body = LinearSink({}).render(finished, id),
            .intent_at = system_now()};
}

struct Fixture : SinkFixture<LinearSink> {
    Fixture() : SinkFixture(settings_for, post_to({.issue_id = issue, .issue_key = {}, .workspace = {}})) {}
};

/// What Linear answers when it refuses.
Json error(const std::string& code, const std::string& message = "no") {
    return {
        {"errors",
         {{{"message", "short"}, {"extensions", {{"code", code}, {"userPresentableMessage", message}}}}}}};
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_comment_under_the_deliverys_id, Fixture) {
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].body == "**Finished**\n\nAll done — 🚀");
    BOOST_TEST(visible[0].place == issue);
    BOOST_TEST(attempt.receipt.remote_id == comment_id);
    BOOST_TEST(attempt.receipt.remote_url ==
               "https://linear.app/acme/issue/" + issue + "#comment-" + comment_id);
    BOOST_TEST(platform.counts().attempts == 1U);
}

BOOST_FIXTURE_TEST_CASE(of_500_answers_lost_each_post_is_found_once, Fixture) {
    const SinkCalls impatient = called<LinearSink>(settings_for(platform), 100ms);
    for (int i = 1; i <= 500; ++i) {
        Post one = post;
        one.delivery_id = DeliveryId(fmt::format("2b4e1c9a-0d5f-5a53-9c55-{:012}", i));
        const bool hangs = i % 10 == 0;
        const std::string fault = hangs        ? "apply_then_hang"
                                  : i % 3 == 0 ? "apply_then_status"
                                  : i % 3 == 1 ? "apply_then_reset"
                                               : "half_answer";
        rule({{"do", fault}, {"method", "POST"}});
        BOOST_TEST(name_of((hangs ? impatient : sink).create(one).answer) == "unknown", fault);
        const auto lookup = sink.find(one);
        BOOST_TEST(lookup.ok, lookup.cause);
        BOOST_TEST(lookup.found.size() == 1U, fault);
    }
    BOOST_TEST(platform.visible().size() == 500U);
}

BOOST_FIXTURE_TEST_CASE(a_second_comment_of_a_delivery_cannot_be_made, Fixture) {
    rule({{"do", "apply_twice"}, {"method", "POST"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    // A look-up that saw nothing because the list lags: sent again, and the first is taken for it.
    const auto again = sink.create(post);
    BOOST_TEST(name_of(again.answer) == "sent", again.cause);
    BOOST_TEST(again.receipt.remote_id == comment_id);
    BOOST_TEST(platform.visible().size() == 1U);
    BOOST_TEST((sink.duplicate_check() == DuplicateCheck::never));
}

BOOST_FIXTURE_TEST_CASE(while_the_list_lags_a_refused_post_is_not_taken_for_made, Fixture) {
    rule({{"do", "hide"}, {"ms", 60000}, {"method", "POST"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(sink.find(post).found.empty());
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    platform.rules(Json::array({{{"do", "reset"}, {"body", "comments\\("}}}).dump());
    BOOST_TEST(name_of(sink.create(post).answer) == "unknown");
    BOOST_TEST(platform.visible().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(another_writers_comment_of_that_id_is_not_ours, Fixture) {
    fake_platform::Comment comment;
    comment.platform = "linear";
    comment.place = issue;
    comment.author = "mallory";
    comment.thread = comment_id;
    platform.seed(comment);
    BOOST_TEST(found().empty());
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(!sink.remove(post, {.remote_id = comment_id, .remote_url = {}}));
}

BOOST_AUTO_TEST_CASE(what_an_app_wrote_without_a_user_is_known_by_its_id) {
    const Json comment{{"id", comment_id}, {"url", "https://linear.app/x"}, {"user", nullptr}};
    const auto answer =
        answered(200, {{"data", {{"viewer", {{"id", "me"}}}, {"comments", {{"nodes", {comment}}}}}}});
    BOOST_TEST(read_linear_lookup(answer, comment_id).found.size() == 1U);
    BOOST_TEST(read_linear_lookup(answer, "another").found.empty());
}

BOOST_FIXTURE_TEST_CASE(a_comment_can_be_removed, Fixture) {
    sink.create(post);
    BOOST_TEST(sink.remove(post, {.remote_id = comment_id, .remote_url = {}}));
    BOOST_TEST(platform.visible().empty());
    BOOST_TEST(found().empty());
}

BOOST_AUTO_TEST_CASE(each_answer_means_what_the_protocol_says) {
    struct Row {
        int status;
        Json answer;
        std::string means;
        std::string cause;
    };
    const Json made{{"id", "1"}, {"url", "u"}};
    const auto create = [](const Json& payload) { return Json{{"data", {{"commentCreate", payload}}}}; };
    const std::vector<Row> rows{
        {200, create({{"success", true}, {"comment", made}}), "sent", ""},
        {200, create({{"success", false}, {"comment", made}}), "unknown", "200 without a readable comment"},
        {200, create({{"success", true}}), "unknown", "200 without a readable comment"},
        {200, create(nullptr), "unknown", "200 without a readable comment"},
        {200, error("INPUT_ERROR", "Entity not found: Issue"), "refused",
         "200 INPUT_ERROR: Entity not found: Issue"},
        {400, error("GRAPHQL_VALIDATION_FAILED"), "refused", "400 GRAPHQL_VALIDATION_FAILED: no"},
        {200, error("AUTHENTICATION_ERROR"), "unauthorised", "200 AUTHENTICATION_ERROR: no"},
        {401, Json::object(), "unauthorised", "401"},
        {200, error("FORBIDDEN"), "unauthorised", "200 FORBIDDEN: no"},
        {400, error("RATELIMITED"), "retry", "400 rate limited"},
        {429, Json::object(), "retry", "429 rate limited"},
        {200, error("INTERNAL_SERVER_ERROR"), "unknown", "200 INTERNAL_SERVER_ERROR: no"},
        {400, error("LOCK_TIMEOUT"), "unknown", "400 LOCK_TIMEOUT: no"},
        {301, Json::object(), "refused", "301"},
        {404, Json::object(), "refused", "404"},
        {408, Json::object(), "unknown", "408"},
        {500, error("INPUT_ERROR"), "unknown", "500 INPUT_ERROR: no"},
        {503, Json::object(), "unknown", "503"}};
    for (const Row& row : rows) {
        const auto attempt = classify_linear_comment(answered(row.status, row.answer));
        BOOST_TEST(name_of(attempt.answer) == row.means, row.status << " " << row.answer);
        BOOST_TEST(attempt.cause == row.cause);
    }
    const Json by_type{{"errors", {{{"message", "no"}, {"extensions", {{"type", "invalid input"}}}}}}};
    BOOST_TEST(classify_linear_comment(answered(200, by_type)).cause == "200 INVALID_INPUT: no");
    BOOST_TEST(classify_linear_comment(answered(200, error("FORBIDDEN"))).scope_is_target);
    BOOST_TEST(!classify_linear_comment(answered(401, Json::object())).scope_is_target);
    BOOST_TEST(name_of(classify_linear_comment(lost()).answer) == "unknown");
    BOOST_TEST(name_of(classify_linear_comment(lost(HttpOutcome::not_sent)).answer) == "retry");
}

BOOST_AUTO_TEST_CASE(a_limit_is_obeyed_until_the_window_that_is_used_up_ends) {
    const auto answer_with = [](std::map<std::string, std::string> headers) {
        headers["date"] = "Tue, 14 Nov 2023 22:13:20 GMT";  // 1700000000
        return answered(400, error("RATELIMITED"), std::move(headers));
    };
    const auto attempt =
        classify_linear_comment(answer_with({{"x-ratelimit-requests-remaining", "0"},
                                             {"x-ratelimit-requests-reset", "1700000076500"},
                                             {"x-ratelimit-complexity-remaining", "7"},
                                             {"x-ratelimit-complexity-reset", "1700003600000"}}));
    BOOST_TEST(attempt.rate_limited);
    BOOST_TEST((attempt.not_before == 77s));
    const auto lookup = read_linear_lookup(answer_with({{"retry-after", "5"}}), comment_id);
    BOOST_TEST(lookup.rate_limited);
    BOOST_TEST((lookup.not_before == 5s));
    BOOST_TEST(!classify_linear_comment(answer_with({})).not_before.has_value());
}

BOOST_AUTO_TEST_CASE(a_look_up_that_fails_says_whether_waiting_helps) {
    const auto look = [](int status, const Json& answer) {
        return read_linear_lookup(answered(status, answer), comment_id);
    };
    for (const char* code : {"AUTHENTICATION_ERROR", "FORBIDDEN", "GRAPHQL_VALIDATION_FAILED"}) {
        BOOST_TEST(!look(200, error(code)).ok, code);
        BOOST_TEST(look(200, error(code)).forbidden, code);
    }
    for (const auto& [status, answer] : std::vector<std::pair<int, Json>>{
             {500, error("INPUT_ERROR")}, {200, error("INTERNAL_SERVER_ERROR")}, {200, Json::object()}}) {
        BOOST_TEST(!look(status, answer).ok, answer);
        BOOST_TEST(!look(status, answer).forbidden, answer);
    }
}

BOOST_FIXTURE_TEST_CASE(a_place_that_takes_no_comment_says_why, Fixture) {
    platform.set_place("linear", issue, fake_platform::PlaceState::missing);
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "refused");
    BOOST_TEST(attempt.cause == "200 INPUT_ERROR: Entity not found: Issue");
    platform.set_place("linear", issue, fake_platform::PlaceState::locked);
    BOOST_TEST(name_of(sink.create(post).answer) == "unauthorised");
}

BOOST_FIXTURE_TEST_CASE(keys_of_people_and_tokens_of_apps_have_their_schemes, Fixture) {
    platform.accept_tokens({"token", "lin_api_abc"});
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    auto settings = settings_for(platform);
    settings.token = " lin_api_abc\n";
    BOOST_TEST(called<LinearSink>(settings).find(post).found.size() == 1U);
    settings.token = "lin_api_wrong";
    BOOST_TEST(called<LinearSink>(settings).find(post).forbidden);
}

BOOST_FIXTURE_TEST_CASE(each_workspace_has_its_token_and_a_bare_key_goes_to_no_other, Fixture) {
    const auto row = [&](const std::string& type, const std::string& json) {
        const auto processor = decode_processor(type, json);
        if (!processor) BOOST_FAIL(processor.error().text);
        Post there = post;
        there.target = processor->target;
        return there;
    };
    auto settings = settings_for(platform);
    settings.workspaces = {{"Acme", "of acme"}};
    const auto many = called<LinearSink>(settings);
    const std::string view = R"({"issue_id":")" + issue + R"(","issue_key":"ENG-12","workspace_name":)";
    platform.accept_tokens({"of acme"});
    BOOST_TEST(name_of(many.create(row("LinearCallbackProcessor", view + R"("ACME"})")).answer) == "sent");
    platform.reset();
    platform.accept_tokens({"token"});
    BOOST_TEST(name_of(many.create(row("LinearV1CallbackProcessor",
                                       R"({"linear_view_data":)" + view + R"("other"}})"))
                           .answer) == "sent");
    BOOST_TEST(platform.visible().at(0).place == issue);
    const auto bare = row("linear", R"({"issue_key":"ENG-12","workspace_name":"Other"})");
    const auto requests = platform.log().size();
    const auto attempt = many.create(bare);
    BOOST_TEST(name_of(attempt.answer) == "unauthorised");
    BOOST_TEST(attempt.cause ==
               "the row is of the Linear workspace \"Other\": set [linear.workspaces.\"other\"] token");
    BOOST_TEST(many.find(bare).forbidden);
    BOOST_TEST(platform.log().size() == requests);
    BOOST_TEST(many.quota(bare.target).setting == "[linear.workspaces.\"other\"] token");
    BOOST_TEST(many.quota(bare.target).credential != many.quota(post.target).credential);
    BOOST_TEST(many.quota(post.target).setting == "[linear] token");
}

BOOST_FIXTURE_TEST_CASE(without_a_token_or_a_place_nothing_is_asked, Fixture) {
    auto settings = settings_for(platform);
    settings.token.clear();
    const SinkCalls bare = called<LinearSink>(settings);
    BOOST_TEST(bare.create(post).cause == "no token: set [linear] token");
    BOOST_TEST(name_of(bare.create(post).answer) == "unauthorised");
    BOOST_TEST(bare.find(post).forbidden);
    post.target = ForeignTarget{};
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(!sink.find(post).ok);
    BOOST_TEST(!sink.remove(post, {.remote_id = "1", .remote_url = {}}));
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(each_token_says_who_we_are, Fixture) {
    auto settings = settings_for(platform);
    settings.workspaces = {{"acme", "another"}};
    platform.accept_tokens({"token"});
    const auto reports = called<LinearSink>(settings).check_tokens();
    BOOST_REQUIRE(reports.size() == 2U);
    BOOST_TEST((reports[0].state == TokenState::accepted));
    BOOST_TEST(reports[0].identity == std::string(bot_login) + " (Acme)");
    BOOST_TEST((reports[1].state == TokenState::refused));
    BOOST_TEST(reports[1].setting == "[linear.workspaces.\"acme\"] token");
    settings.token.clear();
    BOOST_TEST(called<LinearSink>(settings).check_tokens().size() == 1U);
    settings.workspaces.clear();
    BOOST_TEST((called<LinearSink>(settings).check_tokens().at(0).state == TokenState::missing));
    answers("POST", 200, error("AUTHENTICATION_ERROR"));
    BOOST_TEST((sink.check_tokens().at(0).state == TokenState::refused));
}

BOOST_AUTO_TEST_CASE(no_hostile_summary_is_alive_in_a_comment) {
    const LinearSink sink({});
    for (const auto& [kind, words, absent] : hostile::cases()) {
        const auto body =
            sink.render({.headline = "**Finished**", .final_message = words, .facts = words, .link = {}}, id);
        BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
        BOOST_TEST(hostile::alive_in_markdown(body) == "");
        for (const auto& part : absent)
            BOOST_TEST(hostile::visible(body).find(part) == std::string::npos, part);
    }
}
