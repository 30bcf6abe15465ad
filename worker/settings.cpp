#include "worker/settings.h"

#include <algorithm>
#include <array>

#include <unistd.h>

#include "base/ids.h"
#include "base/io/log.h"
#include "base/version.h"

namespace epilogue {
namespace {

constexpr std::size_t short_id = 8;

}  // namespace

MysqlSettings mysql_settings(const Config& config) {
    const auto& database = config.database;
    MysqlSettings settings;
    settings.host = database.host;
    settings.port = database.port;
    settings.socket = database.socket;
    settings.user = database.user;
    settings.password = database.password.reveal();
    settings.database = database.name;
    settings.tls = database.tls == DatabaseTls::off        ? "off"
                   : database.tls == DatabaseTls::required ? "required"
                                                           : "preferred";
    return settings;
}

KafkaSettings kafka_settings(const Config& config) {
    return {config.kafka.brokers, "epilogue-" + random_uuid().substr(0, short_id), config.kafka.properties};
}

const ConfigSchema& config_schema() {
    static const ConfigSchema schema(sink_sections());
    return schema;
}

SinkSettings sink_settings(const Config& config) {
    SinkSettings settings;
    settings.sections = config.extensions;
    if (!config.security.keys.empty()) settings.mac_key = config.security.keys.front().reveal();
    settings.http_timeout = config.worker.http_timeout;
    settings.version = version;
    settings.write_log = [](const std::string& line) {
        log_info("conversation ended", {{"delivery", line}});
    };
    return settings;
}

SummaryRules summary_rules(const Config& config) {
    SummaryRules rules;
    rules.sources.clear();
    for (const SummarySource source : config.summary.sources)
        rules.sources.emplace_back(source == SummarySource::final_words ? "final" : "digest");
    rules.web_url = config.summary.web_url;
    return rules;
}

AskRules ask_rules(const Config& config) {
    return {!config.agent_server.url.empty(), config.summary.deadline};
}

SummariserRules summariser_rules(const Config& config, const std::string& owner) {
    return {owner, config.worker.lease, config.summary.deadline};
}

SenderRules sender_rules(const Config& config, const std::string& owner) {
    SenderRules rules;
    rules.owner = owner;
    rules.lease = config.worker.lease;
    rules.http_timeout = config.worker.http_timeout;
    return rules;
}

BatchRules batch_rules(const Config& config) {
    BatchRules rules;
    rules.settle = config.worker.settle;
    rules.inactivity = config.worker.inactivity_timeout;
    rules.default_agent_server = !config.agent_server.url.empty();
    constexpr std::chrono::seconds longest{120};
    rules.agent_answers_in = std::min(2 * config.worker.http_timeout, longest);
    rules.guard_mass_timeouts = config.worker.timeout_storm == TimeoutStorm::hold;
    return rules;
}

Result<Planner> planner_for(const Config& config, Store& store) {
    TRY(const Installation installation, store.installation());
    return Planner(installation.id, summary_rules(config), ask_rules(config));
}

AgentDirectoryRules agent_directory_rules(const Config& config) {
    AgentDirectoryRules rules;
    rules.default_url = config.agent_server.url;
    rules.default_key = config.agent_server.session_api_key;
    rules.deadlines.call = config.worker.http_timeout;
    rules.deadlines.reach = std::min(rules.deadlines.reach, rules.deadlines.call);
    return rules;
}

WatchRules watch_rules(const Config& config) {
    return {config.worker.inactivity_timeout, !config.agent_server.url.empty()};
}

ReconcileRules reconcile_rules(const Config& config, const std::string& owner) {
    return {config.kafka.group, config.kafka.topic, owner, batch_rules(config)};
}

AdoptionRules adoption_rules(const Config& config, const Installation& installation) {
    return {installation.created_at, config.worker.adopt_max_age, watch_rules(config)};
}

std::string worker_name() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    return std::string(host.data()) + ":" + std::to_string(getpid()) + ":" +
           random_uuid().substr(0, short_id);
}

}  // namespace epilogue
