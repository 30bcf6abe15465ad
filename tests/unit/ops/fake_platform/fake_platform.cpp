#define BOOST_TEST_MODULE fake_platform
#include <future>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/io/http.h"
#include "ops/fake_platform/fake_platform_server.h"

using namespace epilogue;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using fake_platform::Counts;

namespace {

const std::string comments = "/github/repos/o/r/issues/1/comments";

HttpAnswer send(const FakePlatformServer& platform, const std::string& method, const std::string& path,
                const std::string& body = "", const std::string& token = "t") {
    HttpRequest request;
    request.method = method;
    request.url = path.starts_with("http") ? path : platform.url(path);
    request.headers = {"User-Agent: epilogue/test"};
    if (!token.empty()) request.headers.push_back("Authorization: Bearer " + token);
    request.body = body;
    return HttpClient().send(request);
}

HttpAnswer post(const FakePlatformServer& platform, const std::string& text = "hello") {
    return send(platform, "POST", comments, Json{{"body", text}}.dump());
}

HttpAnswer control(const FakePlatformServer& platform, const std::string& method, const std::string& path,
                   const Json& body = nullptr) {
    return send(platform, method, "/_control" + path, body.is_null() ? "" : body.dump());
}

Json list(const FakePlatformServer& platform, const std::string& query = "") {
    return Json::parse(send(platform, "GET", comments + query).body);
}

std::future<HttpAnswer> post_meanwhile(const FakePlatformServer& platform) {
    return std::async(std::launch::async, [&platform] { return post(platform); });
}

bool held(const FakePlatformServer& platform, std::size_t count) {
    return platform.wait_until([=](const Counts& counts) { return counts.held == count; }, 10s);
}

/// The address that a Link header field gives for `relation`; "" when it has none.
std::string link(const HttpAnswer& answer, const std::string& relation) {
    const auto field = answer.headers.find("link");
    if (field == answer.headers.end()) return "";
    const std::size_t end = field->second.find(">; rel=\"" + relation + "\"");
    if (end == std::string::npos) return "";
    const std::size_t begin = field->second.rfind('<', end) + 1;
    return field->second.substr(begin, end - begin);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_comment_is_created_read_listed_and_deleted) {
    FakePlatformServer platform;
    const HttpAnswer created = post(platform);
    BOOST_TEST(created.status == 201);
    BOOST_TEST(created.headers.at("x-ratelimit-remaining") == "5000");
    const Json comment = Json::parse(created.body);
    BOOST_TEST(comment["body"] == "hello");
    BOOST_TEST(comment["user"]["login"] == "epilogue-bot");
    BOOST_TEST(comment["html_url"].get<std::string>().ends_with("#issuecomment-" + comment["id"].dump()));
    const std::string one = "/github/repos/o/r/issues/comments/" + comment["id"].dump();
    BOOST_TEST(Json::parse(send(platform, "GET", one).body) == comment);
    BOOST_TEST(list(platform) == Json::array({comment}));
    BOOST_TEST(platform.visible().at(0).place == "o/r#1");
    BOOST_TEST(
        send(platform, "DELETE", "/github/repos/o/other/issues/comments/" + comment["id"].dump()).status ==
        404);
    BOOST_TEST(send(platform, "DELETE", one).status == 204);
    BOOST_TEST(send(platform, "DELETE", one).status == 404);
    BOOST_TEST(send(platform, "GET", one).status == 404);
    BOOST_TEST(platform.counts().visible == 0U);
    BOOST_TEST(platform.counts().applied == 1U);
}

BOOST_AUTO_TEST_CASE(only_a_known_token_is_accepted) {
    FakePlatformServer platform;
    BOOST_TEST(Json::parse(send(platform, "GET", "/github/user").body) ==
               Json({{"id", 1}, {"login", "epilogue-bot"}}));
    BOOST_TEST(send(platform, "GET", "/github/user", "", "").status == 401);
    BOOST_TEST(control(platform, "POST", "/tokens", {{"tokens", {"right"}}}).status == 200);
    BOOST_TEST(send(platform, "POST", comments, R"({"body":"x"})", "wrong").status == 401);
    BOOST_TEST(send(platform, "POST", comments, R"({"body":"x"})", "right").status == 201);
}

BOOST_AUTO_TEST_CASE(bodies_are_checked_in_characters) {
    FakePlatformServer platform;
    std::string longest;
    for (int count = 0; count < 65536; ++count) longest += "é";
    BOOST_TEST(post(platform, longest).status == 201);
    BOOST_TEST(post(platform, longest + "é").status == 422);
    BOOST_TEST(post(platform, " ").status == 422);
    BOOST_TEST(send(platform, "POST", comments, R"({"text":"x"})").status == 422);
    BOOST_TEST(send(platform, "POST", comments, "{").status == 400);
    BOOST_TEST(platform.counts().attempts == 5U);
    BOOST_TEST(platform.counts().applied == 1U);
}

BOOST_AUTO_TEST_CASE(issues_can_be_missing_gone_or_locked) {
    FakePlatformServer platform;
    const auto set = [&](const std::string& state) {
        return control(platform, "POST", "/issues", {{"repo", "o/r"}, {"number", 1}, {"state", state}})
            .status;
    };
    BOOST_TEST(set("missing") == 200);
    BOOST_TEST(post(platform).status == 404);
    BOOST_TEST(set("gone") == 200);
    BOOST_TEST(post(platform).status == 410);
    BOOST_TEST(set("locked") == 200);
    const HttpAnswer locked = post(platform);
    BOOST_TEST(locked.status == 403);
    BOOST_TEST(Json::parse(locked.body)["message"] == "Unable to create comment because issue is locked.");
    BOOST_TEST(send(platform, "GET", comments).status == 200);
    BOOST_TEST(set("open") == 200);
    BOOST_TEST(post(platform).status == 201);
    BOOST_TEST(set("ajar") == 400);
}

BOOST_AUTO_TEST_CASE(links_lead_through_all_pages_in_order) {
    FakePlatformServer platform;
    control(platform, "POST", "/comments", {{"repo", "o/r"}, {"number", 1}, {"body", "x"}, {"count", 250}});
    BOOST_TEST(list(platform).size() == 30U);
    std::vector<std::int64_t> ids;
    std::size_t pages = 0;
    std::string next = comments + "?per_page=1000&since=2020-01-01T00:00:00Z";
    for (; !next.empty(); ++pages) {
        const HttpAnswer page = send(platform, "GET", next);
        for (const Json& comment : Json::parse(page.body)) ids.push_back(comment["id"].get<std::int64_t>());
        next = link(page, "next");
        BOOST_TEST((next.empty() || next.find("since=") != std::string::npos));
    }
    BOOST_TEST(pages == 3U);
    BOOST_TEST(ids.size() == 250U);
    BOOST_TEST(std::is_sorted(ids.begin(), ids.end()));
    BOOST_TEST(link(send(platform, "GET", comments + "?per_page=100&page=2"), "prev").ends_with("page=1"));
    BOOST_TEST(list(platform, "?page=99").empty());
}

BOOST_AUTO_TEST_CASE(since_filters_by_the_last_change) {
    FakePlatformServer platform;
    const auto seed = [&](const std::string& at) {
        return Json::parse(control(platform, "POST", "/comments",
                                   {{"repo", "o/r"}, {"number", 1}, {"body", at}, {"created_at", at}})
                               .body)["id"];
    };
    const Json old = seed("2026-01-01T00:00:00Z");
    seed("2026-01-02T00:00:00.900Z");
    BOOST_TEST(list(platform, "?since=2026-01-02T00:00:00Z").size() == 1U);
    BOOST_TEST(list(platform, "?since=2026-01-02T00:00:01Z").empty());
    BOOST_TEST(control(platform, "PATCH", "/comments/" + old.dump(), {{"body", "edited"}}).status == 200);
    BOOST_TEST(list(platform, "?since=2026-01-03T00:00:00Z").at(0)["body"] == "edited");
    BOOST_TEST(send(platform, "GET", comments + "?since=yesterday").status == 422);
}

BOOST_AUTO_TEST_CASE(comments_of_others_stand_beside_ours_and_are_not_ours_to_delete) {
    FakePlatformServer platform;
    post(platform, "ours");
    const Json theirs =
        Json::parse(control(platform, "POST", "/comments",
                            {{"repo", "o/r"}, {"number", 1}, {"author", "mallory"}, {"body", "forged"}})
                        .body)["id"];
    BOOST_TEST(list(platform).at(1)["user"]["login"] == "mallory");
    BOOST_TEST(send(platform, "DELETE", "/github/repos/o/r/issues/comments/" + theirs.dump()).status == 403);
    BOOST_TEST(control(platform, "DELETE", "/comments/" + theirs.dump()).status == 200);
    BOOST_TEST(control(platform, "DELETE", "/comments/" + theirs.dump()).status == 404);
    BOOST_TEST(platform.visible().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_held_request_answers_when_released) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"apply_then_hang","method":"POST"},{"do":"hang","method":"POST"}])");
    auto applied = post_meanwhile(platform);
    BOOST_TEST(held(platform, 1));
    BOOST_TEST(platform.counts().visible == 1U);
    auto waiting = post_meanwhile(platform);
    BOOST_TEST(held(platform, 2));
    BOOST_TEST(platform.counts().visible == 1U);
    BOOST_TEST(platform.log().at(1).held);
    BOOST_TEST(control(platform, "POST", "/release").status == 200);
    BOOST_TEST(applied.get().status == 201);
    BOOST_TEST(waiting.get().status == 201);
    const Counts counts = platform.counts();
    BOOST_TEST(counts.held == 0U);
    BOOST_TEST(counts.held_total == 2U);
    BOOST_TEST(counts.held_applied_total == 1U);
    BOOST_TEST(counts.visible == 2U);
}

BOOST_AUTO_TEST_CASE(a_dropped_request_gets_no_answer_and_is_not_applied) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"hang"}])");
    auto waiting = post_meanwhile(platform);
    BOOST_TEST(held(platform, 1));
    platform.release(true);
    BOOST_TEST((waiting.get().outcome == HttpOutcome::uncertain));
    BOOST_TEST(platform.counts().visible == 0U);
    BOOST_TEST(!platform.log().at(0).status.has_value());
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_is_held_no_longer) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"hang"}])");
    HttpRequest request;
    request.method = "POST";
    request.url = platform.url(comments);
    request.timeout = 200ms;
    BOOST_TEST((HttpClient().send(request).outcome == HttpOutcome::uncertain));
    BOOST_TEST(held(platform, 0));
    BOOST_TEST(platform.counts().held_total == 1U);
    BOOST_TEST(platform.counts().visible == 0U);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_stand_in_frees_whoever_waits) {
    auto platform = std::make_unique<FakePlatformServer>();
    platform->rules(R"([{"do":"hang"},{"do":"delay","ms":600000}])");
    HttpRequest request;
    request.method = "POST";
    request.url = platform->url(comments);
    const auto send_it = [request] { return HttpClient().send(request).outcome; };
    auto first = std::async(std::launch::async, send_it);
    auto second = std::async(std::launch::async, send_it);
    BOOST_TEST(platform->wait_until([](const Counts& counts) { return counts.attempts == 2; }, 10s));
    platform.reset();
    BOOST_TEST((first.get() == HttpOutcome::uncertain));
    BOOST_TEST((second.get() == HttpOutcome::uncertain));
}

BOOST_AUTO_TEST_CASE(rules_are_taken_in_order_skip_and_run_out) {
    FakePlatformServer platform;
    control(platform, "POST", "/rules",
            Json::array({{{"do", "status"}, {"status", 500}, {"method", "POST"}, {"skip", 1}, {"times", 2}},
                         {{"do", "status"}, {"status", 502}, {"path", "/issues/2/"}, {"times", -1}}}));
    control(platform, "POST", "/rules",
            {{"append", {{{"do", "status"}, {"status", 418}, {"body", "tea|coffee"}}}}});
    const std::vector<std::string> sent{"tea", "tea", "tea", "tea", "tea"};
    std::vector<int> statuses;
    for (const std::string& text : sent) statuses.push_back(post(platform, text).status);
    const std::vector<int> expected{418, 500, 500, 201, 201};
    BOOST_TEST(statuses == expected, boost::test_tools::per_element());
    BOOST_TEST(send(platform, "GET", "/github/repos/o/r/issues/2/comments").status == 502);
    BOOST_TEST(platform.log().at(1).action == "status");
    BOOST_TEST(platform.log().at(3).action == "");
}

BOOST_AUTO_TEST_CASE(rules_that_are_not_understood_are_refused_as_a_whole) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"status","status":500,"times":-1}])");
    for (const std::string rules : {R"([{"do":"status"},{"do":"explode"}])", R"([{"do":"hang","path":"("}])",
                                    R"([{"do":"hang","tims":1}])", R"([{"status":500}])", "{",
                                    R"({"add":[]})", R"([{"do":"status","status":7}])"}) {
        BOOST_TEST(send(platform, "POST", "/_control/rules", rules).status == 400, rules);
        BOOST_CHECK_THROW(platform.rules(rules), std::invalid_argument);
    }
    BOOST_TEST(post(platform).status == 500);
}

BOOST_AUTO_TEST_CASE(each_misbehaviour_is_visible_as_told) {
    struct Expected {
        std::string deed;
        int status;
        std::size_t visible;
        std::size_t applied;
    };
    for (const Expected& expected : std::vector<Expected>{{"apply_then_status", 500, 1, 1},
                                                          {"status", 500, 0, 0},
                                                          {"apply_twice", 201, 2, 2},
                                                          {"suppress", 201, 0, 0},
                                                          {"delay", 201, 1, 1},
                                                          {"apply_then_reset", 0, 1, 1},
                                                          {"reset", 0, 0, 0},
                                                          {"half_answer", 0, 1, 1}}) {
        FakePlatformServer platform;
        platform.rules(Json::array({{{"do", expected.deed}, {"ms", 1}}}).dump());
        BOOST_TEST(post(platform).status == expected.status, expected.deed);
        const Counts counts = platform.counts();
        BOOST_TEST(counts.attempts == 1U, expected.deed);
        BOOST_TEST(counts.visible == expected.visible, expected.deed);
        BOOST_TEST(counts.applied == expected.applied, expected.deed);
        BOOST_TEST(list(platform).size() == expected.visible, expected.deed);
        BOOST_TEST(platform.log().at(0).applied == (expected.applied > 0), expected.deed);
    }
}

BOOST_AUTO_TEST_CASE(a_hidden_comment_is_listed_only_after_its_time) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"hide","ms":600000},{"do":"hide","ms":100}])");
    BOOST_TEST(post(platform, "long").status == 201);
    BOOST_TEST(list(platform).empty());
    BOOST_TEST(platform.counts().visible == 1U);
    BOOST_TEST(post(platform, "short").status == 201);
    const auto patience = std::chrono::steady_clock::now() + 10s;
    while (list(platform).empty() && std::chrono::steady_clock::now() < patience) {
    }
    BOOST_TEST(list(platform).at(0)["body"] == "short");
}

BOOST_AUTO_TEST_CASE(a_long_poll_ends_when_the_count_is_reached_or_the_time_is_up) {
    FakePlatformServer platform;
    auto waiting = std::async(std::launch::async, [&] {
        return control(platform, "GET", "/wait?visible=1&attempts=1&timeout_ms=10000").body;
    });
    post(platform);
    BOOST_TEST(waiting.get() == R"({"reached":true})");
    BOOST_TEST(control(platform, "GET", "/wait?visible=2&timeout_ms=20").body == R"({"reached":false})");
    BOOST_TEST(control(platform, "GET", "/wait?happiness=1").status == 400);
}

BOOST_AUTO_TEST_CASE(the_control_api_shows_log_visible_and_counts_and_resets) {
    FakePlatformServer platform;
    platform.rules(R"([{"do":"apply_then_reset"}])");
    post(platform);
    list(platform, "?per_page=5");
    const Json log = Json::parse(control(platform, "GET", "/log").body);
    BOOST_TEST(log.size() == 2U);
    BOOST_TEST(log[0]["n"] == 1);
    BOOST_TEST(log[0]["action"] == "apply_then_reset");
    BOOST_TEST(log[0]["applied"] == true);
    BOOST_TEST(log[0]["status"].is_null());
    BOOST_TEST(log[1]["status"] == 200);
    BOOST_TEST(log[1]["query"] == "per_page=5");
    const Json visible = Json::parse(control(platform, "GET", "/visible").body);
    BOOST_TEST(visible.at(0)["path"] == "o/r#1");
    BOOST_TEST(visible.at(0)["author"] == "epilogue-bot");
    const Json counts = Json::parse(control(platform, "GET", "/counts").body);
    BOOST_TEST(counts["attempts"] == 1);
    BOOST_TEST(counts["lookups"] == 1);
    BOOST_TEST(control(platform, "POST", "/reset").status == 200);
    BOOST_TEST(platform.counts().attempts == 0U);
    BOOST_TEST(platform.log().empty());
    BOOST_TEST(platform.visible().empty());
    BOOST_TEST(control(platform, "GET", "/nothing").status == 404);
    BOOST_TEST(send(platform, "GET", "/gitea/user").status == 404);
}
