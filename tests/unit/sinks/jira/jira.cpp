#define BOOST_TEST_MODULE jira
#include "sinks/jira/jira.h"

#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "sinks/format/marker.h"
#include "sinks/jira/jira_answers.h"
#include "sinks/processor.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/scripted.h"
#include "tests/unit/sinks/sink_fixture.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using fake_platform::bot_login;

namespace {

const std::string issue = "PROJ-12";
const Summary finished{.headline = "**Finished**", .final_message = "All done — 🚀", .facts = {}, .link = {}};

JiraSettings data_center(const FakePlatformServer& platform) {
    return {.usual = {.api_url = platform.url("/jira"), .email = {}, .token = "token"},
            .sites = {},
            .mac_key = "key",
            .version = "0.1.0"};
}

JiraSettings cloud(const FakePlatformServer& platform) {
    auto settings = data_center(platform);
    settings.usual.email = "bot@acme.example";
    return settings;
}

Post post_of(const JiraSettings& settings, JiraTarget target = {.issue_key = issue, .base_url = {}}) {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = std::move(target),
            .body = JiraSink(settings).render(finished, id),
            .intent_at = system_now()};
}

struct Fixture : SinkFixture<JiraSink> {
    Fixture() : SinkFixture(data_center, Post{}) { post = post_of(data_center(platform)); }

    std::int64_t seed(const std::string& author, const std::string& body, Instant at = system_now()) {
        fake_platform::Comment comment;
        comment.platform = "jira";
        comment.place = issue;
        comment.author = author;
        comment.body = body;
        comment.created_at = at;
        return platform.seed(std::move(comment));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_comment_word_for_word, Fixture) {
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].body == post.body);
    BOOST_TEST(visible[0].place == issue);
    BOOST_TEST(attempt.receipt.remote_id == text_of(visible[0].id));
    BOOST_TEST(post.body.starts_with("*Finished*\n\nAll done — 🚀\n\n~epilogue:1 id=" + id.text() + " mac="));
}

BOOST_FIXTURE_TEST_CASE(a_comment_is_named_by_the_page_that_people_read, Fixture) {
    const auto attempt = sink.create(post);
    const auto page = platform.url("/jira/browse/PROJ-12?focusedCommentId=") + attempt.receipt.remote_id;
    BOOST_TEST(attempt.receipt.remote_url == page);
    const auto lookup = sink.find(post);
    BOOST_REQUIRE(lookup.found.size() == 1U);
    BOOST_TEST(lookup.found[0].remote_url == page);
    // The address of scoped tokens does not tell of the site's own: what the API says stays.
    auto settings = data_center(platform);
    settings.usual.api_url = "https://api.atlassian.com/ex/jira/678f";
    JiraSink scoped(settings);
    const auto [sent, asked] =
        scripted(scoped.create(post), {answered(201, {{"id", "7"}, {"self", "https://api.example/7"}})});
    BOOST_TEST(sent.receipt.remote_url == "https://api.example/7");
}

BOOST_FIXTURE_TEST_CASE(cloud_and_data_center_have_their_credentials, Fixture) {
    // base64 of "bot@acme.example:token"
    platform.accept_tokens({"Ym90QGFjbWUuZXhhbXBsZTp0b2tlbg=="});
    BOOST_TEST(name_of(called<JiraSink>(cloud(platform)).create(post).answer) == "sent");
    BOOST_TEST(name_of(sink.create(post).answer) == "unauthorised");
    platform.accept_tokens({"token"});
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
}

BOOST_FIXTURE_TEST_CASE(what_was_posted_is_found_on_cloud_and_data_center, Fixture) {
    for (const auto& settings : {data_center(platform), cloud(platform)}) {
        platform.reset();
        rule({{"do", "apply_then_reset"}, {"method", "POST"}});
        const SinkCalls calls = called<JiraSink>(settings);
        BOOST_TEST(name_of(calls.create(post).answer) == "unknown");
        const auto lookup = calls.find(post);
        BOOST_TEST(lookup.ok, lookup.cause);
        BOOST_TEST(lookup.found.size() == 1U);
    }
}

BOOST_FIXTURE_TEST_CASE(of_500_answers_lost_each_post_is_found_once, Fixture) {
    const JiraSettings settings = data_center(platform);
    const SinkCalls impatient = called<JiraSink>(settings, 100ms);
    for (int i = 1; i <= 500; ++i) {
        Post one = post_of(settings, {.issue_key = "PROJ-" + std::to_string(i), .base_url = {}});
        one.delivery_id = DeliveryId(fmt::format("2b4e1c9a-0d5f-5a53-9c55-{:012}", i));
        one.body = JiraSink(settings).render(finished, one.delivery_id);
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

BOOST_FIXTURE_TEST_CASE(only_the_whole_marker_by_our_own_hand_counts, Fixture) {
    const auto marker = post.body.substr(post.body.rfind('\n') + 1);
    seed("mallory", post.body);
    seed(bot_login, "quoted: " + marker);
    seed(bot_login, replaced(marker, "mac=", "mac=0"));
    BOOST_TEST(found().empty());
    const auto ours = seed(bot_login, "(I have read this.)\r\n" + marker + "\r\n");
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_key_rotated_since_still_finds_what_was_posted, Fixture) {
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    auto rotated = data_center(platform);
    rotated.mac_key = "another key";
    BOOST_TEST(called<JiraSink>(rotated).find(post).found.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(pages_are_read_back_to_the_first_attempt_and_no_further, Fixture) {
    for (int i = 0; i < 250; ++i) seed("ada", "old", post.intent_at - 1h);
    const auto ours = seed(bot_login, post.body, post.intent_at + 1s);
    for (int i = 0; i < 150; ++i) seed("ada", "new", post.intent_at + 2s);
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
    BOOST_TEST(platform.counts().lookups == 5U);  // two pages, read twice, and who we are
}

BOOST_FIXTURE_TEST_CASE(all_pages_are_read_where_the_order_is_not_kept, Fixture) {
    const auto comment = [](std::int64_t number, const std::string& body, Instant at) {
        return Json{{"id", text_of(number)},
                    {"author", {{"name", bot_login}}},
                    {"body", body},
                    {"created", to_iso(at).substr(0, 23) + "+0000"}};
    };
    Json oldest_first{{"total", 3},
                      {"comments", Json::array({comment(1, "x", post.intent_at - 2h),
                                                comment(2, "y", post.intent_at - 1h)})}};
    Json rest{{"total", 3}, {"comments", Json::array({comment(3, post.body, post.intent_at)})}};
    JiraSink bare(data_center(platform));
    const auto [lookup, asked] = scripted(
        bare.find(post), {answered(200, oldest_first), answered(200, rest), answered(200, oldest_first),
                          answered(200, rest), answered(200, {{"name", bot_login}})});
    BOOST_TEST(lookup.ok, lookup.cause);
    BOOST_REQUIRE(lookup.found.size() == 1U);
    BOOST_TEST(lookup.found[0].remote_id == "3");
    BOOST_TEST(asked.size() == 5U);
}

BOOST_FIXTURE_TEST_CASE(twins_are_seen_oldest_first_and_can_be_removed, Fixture) {
    rule({{"do", "apply_twice"}, {"method", "POST"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    const auto ids = found();
    BOOST_REQUIRE(ids.size() == 2U);
    BOOST_TEST(std::stoll(ids[0]) < std::stoll(ids[1]));
    BOOST_TEST(sink.remove(post, {.remote_id = ids[1], .remote_url = {}}));
    BOOST_TEST(sink.remove(post, {.remote_id = ids[1], .remote_url = {}}));
    BOOST_TEST(found() == Ids{ids[0]}, boost::test_tools::per_element());
    const auto theirs = seed("ada", "theirs");
    BOOST_TEST(!sink.remove(post, {.remote_id = text_of(theirs), .remote_url = {}}));
}

BOOST_AUTO_TEST_CASE(each_answer_means_what_the_protocol_says) {
    struct Row {
        int status;
        Json answer;
        std::string means;
        std::string cause;
    };
    const std::vector<Row> rows{
        {200, {{"id", "1"}}, "unknown", "200 without a readable comment"},
        {201, {{"body", "x"}}, "unknown", "201 without a readable comment"},
        {301, Json::object(), "refused", "301"},
        {400, {{"errorMessages", {"no"}}}, "refused", "400 no"},
        {400, {{"errors", {{"comment", "too long"}}}}, "refused", R"(400 {"comment":"too long"})"},
        {401, Json::object(), "unauthorised", "401"},
        {403, {{"errorMessages", {"locked"}}}, "unauthorised", "403 locked"},
        {404, {{"errorMessages", {"Issue does not exist"}}}, "refused", "404 Issue does not exist"},
        {408, Json::object(), "unknown", "408"},
        {429, Json::object(), "retry", "429 rate limited"},
        {500, Json::object(), "unknown", "500"},
        {503, Json::object(), "unknown", "503"}};
    for (const Row& row : rows) {
        const auto attempt = classify_jira_comment(answered(row.status, row.answer));
        BOOST_TEST(name_of(attempt.answer) == row.means, row.status);
        BOOST_TEST(attempt.cause == row.cause);
    }
    const auto refused_token =
        answered(404, Json::object(), {{"x-seraph-loginreason", "AUTHENTICATED_FAILED"}});
    BOOST_TEST(name_of(classify_jira_comment(refused_token).answer) == "unauthorised");
    BOOST_TEST(name_of(classify_jira_comment(lost()).answer) == "unknown");
    BOOST_TEST(name_of(classify_jira_comment(lost(HttpOutcome::not_sent)).answer) == "retry");
}

BOOST_FIXTURE_TEST_CASE(a_limit_is_obeyed_with_and_without_a_header, Fixture) {
    answers("POST", 429, Json::object(), {{"Retry-After", "77"}});
    const auto limited = sink.create(post);
    BOOST_TEST(limited.rate_limited);
    BOOST_TEST((limited.not_before == 77s));
    answers("GET", 429, Json::object());
    const auto lookup = sink.find(post);
    BOOST_TEST(lookup.rate_limited);
    BOOST_TEST(!lookup.not_before.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_look_up_that_fails_says_whether_waiting_helps, Fixture) {
    for (const int status : {401, 403, 404, 410}) {
        answers("GET", status, Json::object());
        BOOST_TEST(sink.find(post).forbidden, status);
    }
    answers("GET", 500, Json::object());
    BOOST_TEST(!sink.find(post).ok);
    answers("GET", 500, Json::object());
    BOOST_TEST(!sink.find(post).forbidden);
}

BOOST_FIXTURE_TEST_CASE(our_token_goes_to_no_jira_that_a_row_names, Fixture) {
    auto elsewhere =
        post_of(data_center(platform), {.issue_key = issue, .base_url = "https://jira.evil.example/x"});
    const auto attempt = sink.create(elsewhere);
    BOOST_TEST(name_of(attempt.answer) == "unauthorised");
    BOOST_TEST(attempt.cause ==
               "the row is of the Jira \"jira.evil.example\": set [jira.sites.\"jira.evil.example\"]");
    BOOST_TEST(sink.find(elsewhere).forbidden);
    BOOST_TEST(!sink.remove(elsewhere, {.remote_id = "1", .remote_url = {}}));
    BOOST_TEST(platform.log().empty());
    auto ours = post_of(data_center(platform), {.issue_key = issue, .base_url = platform.url("/other/path")});
    BOOST_TEST(name_of(sink.create(ours).answer) == "sent");
}

BOOST_FIXTURE_TEST_CASE(a_row_of_each_site_goes_there_and_one_of_an_unknown_site_nowhere, Fixture) {
    const auto row = [&](const std::string& type, const std::string& members) {
        const auto processor = decode_processor(
            type, R"({"issue_key":"PROJ-12")" + (members.empty() ? "" : "," + members) + "}");
        BOOST_REQUIRE(processor.has_value());
        Post there = post;
        there.target = processor->target;
        return there;
    };
    FakePlatformServer other;
    other.accept_tokens({"of the other"});
    platform.accept_tokens({"token"});
    auto settings = data_center(platform);
    const JiraSite there{.api_url = other.url("/jira"), .email = {}, .token = "of the other"};
    settings.sites = {
        {"Other", there}, {"678f7e2e-c224-4d51-b061-000000000000", there}, {"jira.other.example", there}};
    const auto many = called<JiraSink>(settings);
    struct Row {
        std::string type;
        std::string members;
        bool is_there;
    };
    const std::vector<Row> rows{
        {"jira", "", false},
        {"jira", R"("site":"other")", true},
        {"JiraCallbackProcessor", R"("workspace_name":"OTHER")", true},
        {"JiraV1CallbackProcessor", R"("jira_cloud_id":"678f7e2e-c224-4d51-b061-000000000000")", true},
        {"JiraDcCallbackProcessor", R"("workspace_name":"x","base_api_url":"https://jira.other.example/")",
         true},
        {"JiraDcCallbackProcessor", R"("workspace_name":"x","base_api_url":")" + platform.url("/") + "\"",
         false},
        {"JiraDcCallbackProcessor", R"("workspace_name":"x","base_api_url":")" + other.url("") + "\"", true}};
    for (const Row& one : rows) {
        platform.reset();
        other.reset();
        platform.accept_tokens({"token"});
        other.accept_tokens({"of the other"});
        const auto to = row(one.type, one.members);
        BOOST_TEST(name_of(many.create(to).answer) == "sent", one.members);
        BOOST_TEST(many.find(to).found.size() == 1U, one.members);
        BOOST_TEST(platform.visible().size() == (one.is_there ? 0U : 1U), one.members);
        BOOST_TEST(other.visible().size() == (one.is_there ? 1U : 0U), one.members);
    }
    platform.reset();
    other.reset();
    for (const char* members :
         {R"("workspace_name":"third")", R"("jira_cloud_id":"678f")", R"("site":"127")"}) {
        const auto to = row("JiraV1CallbackProcessor", members);
        const auto attempt = many.create(to);
        BOOST_TEST(name_of(attempt.answer) == "unauthorised", members);
        BOOST_TEST(attempt.cause.starts_with("the row is of the Jira \""), attempt.cause);
        BOOST_TEST(many.find(to).forbidden);
    }
    BOOST_TEST(platform.log().empty());
    BOOST_TEST(other.log().empty());
    const auto quota = [&](const std::string& members) { return many.quota(row("jira", members).target); };
    BOOST_TEST(quota(R"("site":"other")").setting == "[jira.sites.\"other\"] token");
    BOOST_TEST(quota(R"("site":"third")").setting == "[jira.sites.\"third\"]");
    BOOST_TEST(quota(R"("site":"third")").credential != quota(R"("site":"fourth")").credential);
    BOOST_TEST(quota(R"("site":"other")").credential != quota("").credential);
}

BOOST_AUTO_TEST_CASE(a_site_is_known_by_what_atlassian_calls_it) {
    const std::string cloud_id = "678f7e2e-c224-4d51-b061-000000000000";
    JiraSites sites({.api_url = "https://acme.atlassian.net", .email = "e", .token = "t"},
                    {{"scoped", {"https://api.atlassian.com/ex/jira/" + cloud_id, "e", "t"}}}, "0.1.0");
    const auto found = [&](JiraTarget place) {
        place.issue_key = issue;
        const auto* at = sites.of(place);
        return at == nullptr ? "none" : at->section();
    };
    BOOST_TEST(found({.issue_key = {}, .base_url = {}, .site = "Acme"}) == "[jira]");
    BOOST_TEST(found({.issue_key = {}, .base_url = {}, .site = "acme.atlassian.net"}) == "[jira]");
    BOOST_TEST(found({.issue_key = {}, .base_url = {}, .site = cloud_id}) == "[jira.sites.\"scoped\"]");
    for (const std::string other : {"acm", "acme.atlassian", "evil-acme", "acme.atlassian.net.evil.example"})
        BOOST_TEST(found({.issue_key = {}, .base_url = {}, .site = other}) == "none", other);
    BOOST_TEST(found({.issue_key = {}, .base_url = "https://evil.example", .site = "acme"}) == "none");
}

BOOST_FIXTURE_TEST_CASE(without_a_token_or_a_place_nothing_is_asked, Fixture) {
    auto settings = data_center(platform);
    settings.usual.token.clear();
    const SinkCalls bare = called<JiraSink>(settings);
    BOOST_TEST(name_of(bare.create(post).answer) == "unauthorised");
    BOOST_TEST(bare.find(post).forbidden);
    for (const std::string key : {"", "..", "A/B-1", "A-1?x=1"})
        BOOST_TEST(
            name_of(sink.create(post_of(settings, {.issue_key = key, .base_url = {}})).answer) == "refused",
            key);
    post.target = ForeignTarget{};
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(the_token_says_who_we_are, Fixture) {
    const auto reports = sink.check_tokens();
    BOOST_REQUIRE(reports.size() == 1U);
    BOOST_TEST((reports[0].state == TokenState::accepted));
    BOOST_TEST(reports[0].identity == bot_login);
    platform.accept_tokens({"another"});
    BOOST_TEST((sink.check_tokens().at(0).state == TokenState::refused));
}

BOOST_FIXTURE_TEST_CASE(each_sites_token_is_checked, Fixture) {
    auto settings = data_center(platform);
    settings.sites = {{"other", {platform.url("/jira"), "", "another"}}};
    const auto reports = called<JiraSink>(settings).check_tokens();
    BOOST_REQUIRE(reports.size() == 2U);
    BOOST_TEST(reports[1].setting == "[jira.sites.\"other\"] token");
    settings.usual = {};
    BOOST_TEST(called<JiraSink>(settings).check_tokens().size() == 1U);
    settings.sites.clear();
    BOOST_TEST((called<JiraSink>(settings).check_tokens().at(0).state == TokenState::missing));
}

BOOST_FIXTURE_TEST_CASE(a_rendered_summary_is_taken_whatever_it_holds, Fixture) {
    for (const std::string& words : {std::string(100000, '{'), std::string(100000, 'x'), std::string()}) {
        post.body =
            JiraSink(data_center(platform))
                .render({.headline = "**Finished**", .final_message = words, .facts = {}, .link = {}}, id);
        BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    }
    BOOST_TEST(found().size() == 3U);
}
