#include "ops/doctor/relay.h"

#include <future>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "agent/relay/app_server/app_server.h"
#include "base/http_date.h"
#include "base/instant.h"
#include "base/io/http.h"
#include "worker/mysql/columns.h"

namespace epilogue::doctor {
namespace {

constexpr const char* relay_component = "relay";
constexpr std::chrono::seconds answered_within{4};
/// Its Date header has whole seconds.
constexpr std::chrono::seconds tolerated{5};

ServerVisit visit_of(std::string name, const HttpAnswer& answer) {
    ServerVisit visit{std::move(name), "", answer.status};
    if (answer.outcome != HttpOutcome::answered) {
        visit.cause = answer.cause;
        return visit;
    }
    const auto date = answer.headers.find("date");
    const auto theirs = date == answer.headers.end() ? std::nullopt : parse_http_date(date->second);
    if (theirs) visit.clock_ahead = std::chrono::round<std::chrono::seconds>(*theirs - system_now());
    return visit;
}

ServerVisit ask_agent_server(const std::string& url, const Secret& key) {
    HttpRequest request;
    request.url = url + "/api/conversations/search?limit=1";
    if (!key.empty()) request.headers = {"X-Session-API-Key: " + key.reveal()};
    request.timeout = answered_within;
    return visit_of(url, HttpClient().send(request));
}

ServerVisit ask_app_server(const Config::Relay::AppServer& wanted) {
    const relay::AppServer server({wanted.url, wanted.key, wanted.org, answered_within});
    const HttpAnswer answer = server.answer_to_listing({});
    ServerVisit visit = visit_of(server.name(), answer);
    // At a path that is none it shows its front end, with 200.
    visit.lists = relay::app_conversations_in(answer.body).has_value();
    return visit;
}

/// What is said of one kind of server.
struct ServerKind {
    const char* check;
    const char* key_remedy;
    const char* place_remedy;  ///< something else is at the address
};
constexpr ServerKind agent_servers{
    "agent server", "set its session key as `key` in [[relay.servers]], or as [agent_server] session_api_key",
    "check that an agent server is at this address"};
constexpr ServerKind app_servers{
    "app server",
    "set `key` in [[relay.app_servers]] to an API key of that installation, one of that organisation where "
    "`org` is set",
    "name the address at which people open OpenHands, e.g. https://app.all-hands.dev, and check that its "
    "version has the V1 API"};

Findings judge(const ServerVisit& visit, const ServerKind& kind) {
    const std::string& name = visit.name;
    if (!visit.cause.empty())
        return {{Severity::unreachable, relay_component, kind.check,
                 name + " cannot be reached: " + visit.cause,
                 "check its address, and the network between here and there"}};
    if (visit.status == 401 || visit.status == 403)
        return {{Severity::error, relay_component, kind.check, name + " refuses the key", kind.key_remedy}};
    if (visit.status >= 500)
        return {{Severity::error, relay_component, kind.check,
                 fmt::format("{} fails with {} when its conversations are listed", name, visit.status),
                 "see its own log"}};
    if (visit.status < 200 || visit.status > 299)
        return {{Severity::error, relay_component, kind.check,
                 fmt::format("{} answers {} to who lists its conversations", name, visit.status),
                 kind.place_remedy}};
    if (!visit.lists)
        return {{Severity::error, relay_component, kind.check,
                 name + " answers, but with no list of conversations", kind.place_remedy}};
    Findings findings{{Severity::ok, relay_component, kind.check, name + " answers and lets us in", ""}};
    if (visit.clock_ahead && std::chrono::abs(*visit.clock_ahead) > tolerated)
        findings.push_back({Severity::warning, relay_component, "clock",
                            fmt::format("the clock of {} is {} s {} ours", name,
                                        std::chrono::abs(*visit.clock_ahead).count(),
                                        visit.clock_ahead->count() > 0 ? "ahead of" : "behind"),
                            "let both machines set their clocks by NTP"});
    return findings;
}

/// What all said, in the order in which they were asked.
Findings judge_all(std::vector<std::future<ServerVisit>> asked, const ServerKind& kind) {
    Findings findings;
    for (auto& each : asked)
        for (Finding& finding : judge(each.get(), kind)) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace

Findings judge_agent_server(const ServerVisit& visit) {
    return judge(visit, agent_servers);
}

Findings judge_app_server(const ServerVisit& visit) {
    return judge(visit, app_servers);
}

Findings judge_relay_rows(const RelayRows& rows, bool has_keys) {
    Findings findings;
    if (has_keys && !rows.webhook_age)
        findings.push_back({Severity::warning, relay_component, "webhooks",
                            "[relay] keys is set, and no webhook has ever come",
                            "name the relay's address in OH_WEBHOOKS of the agent servers"});
    else if (has_keys)
        findings.push_back({Severity::ok, relay_component, "webhooks",
                            fmt::format("they come; the newest conversation that one told of is {} min old",
                                        std::chrono::floor<std::chrono::minutes>(*rows.webhook_age).count()),
                            ""});
    if (rows.troubled > 0)
        findings.push_back({Severity::warning, relay_component, "followed",
                            fmt::format("{} of {} followed conversations have trouble, e.g.: {}",
                                        rows.troubled, rows.followed, rows.trouble),
                            "see `epilogue relay status`"});
    else if (rows.followed > 0)
        findings.push_back({Severity::ok, relay_component, "followed",
                            fmt::format("{} conversations are followed without trouble", rows.followed), ""});
    if (rows.troubled_app_servers > 0)
        findings.push_back({Severity::warning, relay_component, "app servers",
                            fmt::format("{} could not be read the last time, e.g.: {}",
                                        rows.troubled_app_servers, rows.app_server_trouble),
                            "see `epilogue relay status`"});
    return findings;
}

Findings visit_agent_servers(const Config& config) {
    std::vector<std::future<ServerVisit>> asked;
    std::set<std::string> urls;
    const auto visit = [&](const std::string& url, const Secret& key) {
        if (!url.empty() && urls.insert(url).second)
            asked.push_back(std::async(std::launch::async, ask_agent_server, url, key));
    };
    for (const auto& server : config.relay.servers) visit(server.url, server.key);
    visit(config.agent_server.url, config.agent_server.session_api_key);
    return judge_all(std::move(asked), agent_servers);
}

Findings visit_app_servers(const Config& config) {
    std::vector<std::future<ServerVisit>> asked;
    for (const auto& server : config.relay.app_servers)
        asked.push_back(std::async(std::launch::async, ask_app_server, server));
    return judge_all(std::move(asked), app_servers);
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
    TRY(const auto read, session.query("SELECT COUNT(*), MIN(CONCAT(server, ': ', last_error)) FROM "
                                       "relay_app_servers WHERE last_error IS NOT NULL AND "
                                       "last_error_at>UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"));
    Columns app_servers_read(read.at(0));
    rows.troubled_app_servers = app_servers_read.number();
    rows.app_server_trouble = app_servers_read.text();
    return rows;
}

}  // namespace epilogue::doctor
