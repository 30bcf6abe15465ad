#include "ops/doctor/doctor.h"

#include <future>

#include <fmt/format.h>

#include "ops/doctor/broker.h"
#include "ops/doctor/database.h"
#include "ops/doctor/model.h"
#include "ops/doctor/platforms.h"
#include "ops/doctor/relay.h"
#include "ops/doctor/secret_files.h"
#include "worker/settings.h"

namespace epilogue::doctor {
namespace {

constexpr std::chrono::seconds broker_within{7};

Finding judge_keys(const Config& config) {
    const auto count = config.security.keys.size();
    if (count > 0)
        return {Severity::ok, "keys", "keys",
                fmt::format("{} in [security] keys; the first one signs", count), ""};
    return {Severity::warning, "keys", "keys", "[security] keys is empty: only `log` can be used",
            "run `epilogue keygen` and put the key into [security] keys"};
}

void append(Findings& all, const Findings& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Diagnosis examine(const Config& config) {
    auto asked_broker = std::async(std::launch::async, [&] { return visit_broker(config, broker_within); });
    auto asked_servers = std::async(std::launch::async, [&] { return visit_agent_servers(config); });
    auto asked_app_servers = std::async(std::launch::async, [&] { return visit_app_servers(config); });
    auto asked_model = std::async(std::launch::async, [&] { return visit_model(config); });
    const DatabaseVisit database = visit_database(config);

    const auto sinks = make_sinks(sink_settings(config));
    const Transport transport = sink_transport(config);
    std::vector<std::future<PlatformVisit>> asked_platforms;
    for (const auto& named : sinks) {
        const auto found = database.watching.find(named.first);
        const Watching watching = found == database.watching.end() ? Watching{} : found->second;
        asked_platforms.push_back(std::async(std::launch::async, [&named, &transport, watching] {
            return visit_platform(named.first, *named.second, transport, watching);
        }));
    }

    Diagnosis diagnosis;
    const BrokerVisit broker = asked_broker.get();
    append(diagnosis.findings, broker.findings);
    if (broker.topic && database.has_tables)
        append(diagnosis.findings, judge_positions(config, *broker.topic, database.positions));
    append(diagnosis.findings, database.findings);
    diagnosis.findings.push_back(judge_keys(config));
    append(diagnosis.findings, judge_secret_files(config));
    append(diagnosis.findings, asked_servers.get());
    append(diagnosis.findings, asked_app_servers.get());
    append(diagnosis.findings, asked_model.get());
    for (auto& asked : asked_platforms) {
        PlatformVisit visit = asked.get();
        append(diagnosis.findings, visit.findings);
        diagnosis.guarantees.push_back(std::move(visit.guarantee));
    }
    return diagnosis;
}

}  // namespace epilogue::doctor
