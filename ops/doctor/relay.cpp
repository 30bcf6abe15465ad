#include "ops/doctor/relay.h"

#include <future>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/http_date.h"
#include "base/instant.h"
#include "base/io/http.h"
#include "worker/mysql/columns.h"

namespace epilogue::doctor {
namespace {

constexpr const char* relay = "relay";
constexpr std::chrono::seconds answered_within{4};
/// Its Date header has whole seconds.
constexpr std::chrono::seconds tolerated{5};

AgentServerVisit ask(const std::string& url, const Secret& key) {
    HttpRequest request;
    request.url = url + "/api/conversations/search?limit=1";
    if (!key.empty()) request.headers = {"X-Session-API-Key: " + key.reveal()};
    request.timeout = answered_within;
    const HttpAnswer answer = HttpClient().send(request);
    AgentServerVisit visit{url, "", answer.status};
    if (answer.outcome != HttpOutcome::answered) {
        visit.cause = answer.cause;
        return visit;
    }
    const auto date = answer.headers.find("date");
    const auto theirs = date == answer.headers.end() ? std::nullopt : parse_http_date(date->second);
    if (theirs) visit.clock_ahead = std::chrono::round<std::chrono::seconds>(*theirs - system_now());
    return visit;
}

}  // namespace

Findings judge_agent_server(const AgentServerVisit& visit) {
    constexpr const char* check = "agent server";
    const std::string& url = visit.url;
    if (!visit.cause.empty())
        return {{Severity::unreachable, relay, check, url + " cannot be reached: " + visit.cause,
                 "check its address, and the network between here and there"}};
    if (visit.status == 401 || visit.status == 403)
        return {{Severity::error, relay, check, url + " refuses the session key",
                 "set its session key as `key` in [[relay.servers]], or as [agent_server] session_api_key"}};
    if (visit.status < 200 || visit.status > 299)
        return {{Severity::error, relay, check,
                 fmt::format("{} answers {} to who lists its conversations", url, visit.status),
                 "check that an agent server is at this address"}};
    Findings findings{{Severity::ok, relay, check, url + " answers and lets us in", ""}};
    if (visit.clock_ahead && std::chrono::abs(*visit.clock_ahead) > tolerated)
        findings.push_back(
            {Severity::warning, relay, "clock",
             fmt::format("the clock of {} is {} s {} ours", url, std::chrono::abs(*visit.clock_ahead).count(),
                         visit.clock_ahead->count() > 0 ? "ahead of" : "behind"),
             "let both machines set their clocks by NTP"});
    return findings;
}

Findings judge_relay_rows(const RelayRows& rows, bool has_keys) {
    Findings findings;
    if (has_keys && !rows.webhook_age)
        findings.push_back({Severity::warning, relay, "webhooks",
                            "[relay] keys is set, and no webhook has ever come",
                            "name the relay's address in OH_WEBHOOKS of the agent servers"});
    else if (has_keys)
        findings.push_back({Severity::ok, relay, "webhooks",
                            fmt::format("they come; the newest conversation that one told of is {} min old",
                                        std::chrono::floor<std::chrono::minutes>(*rows.webhook_age).count()),
                            ""});
    if (rows.troubled > 0)
        findings.push_back({Severity::warning, relay, "followed",
                            fmt::format("{} of {} followed conversations have trouble, e.g.: {}",
                                        rows.troubled, rows.followed, rows.trouble),
                            "see `epilogue relay status`"});
    else if (rows.followed > 0)
        findings.push_back({Severity::ok, relay, "followed",
                            fmt::format("{} conversations are followed without trouble", rows.followed), ""});
    return findings;
}

Findings visit_agent_servers(const Config& config) {
    std::vector<std::future<AgentServerVisit>> asked;
    std::set<std::string> urls;
    const auto visit = [&](const std::string& url, const Secret& key) {
        if (!url.empty() && urls.insert(url).second)
            asked.push_back(std::async(std::launch::async, ask, url, key));
    };
    for (const auto& server : config.relay.servers) visit(server.url, server.key);
    visit(config.agent_server.url, config.agent_server.session_api_key);
    Findings findings;
    for (auto& each : asked)
        for (Finding& finding : judge_agent_server(each.get())) findings.push_back(std::move(finding));
    return findings;
}

Result<RelayRows> relay_rows(MysqlSession& session) {
    RelayRows rows;
    TRY(const auto told, session.query("SELECT TIMESTAMPDIFF(SECOND, MAX(created_at), UTC_TIMESTAMP(6)) FROM "
                                       "relay_owners"));
    if (const auto age = Columns(told.at(0)).number_or_null()) rows.webhook_age = std::chrono::seconds(*age);
    TRY(const auto followed,
        session.query("SELECT COUNT(*), COUNT(last_error), MIN(last_error) FROM relay_positions WHERE "
                      "unwanted_since IS NULL"));
    Columns columns(followed.at(0));
    rows.followed = columns.number();
    rows.troubled = columns.number();
    rows.trouble = columns.text();
    return rows;
}

}  // namespace epilogue::doctor
