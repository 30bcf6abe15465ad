#include "worker/settings.h"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include <unistd.h>

#include "agent/address.h"
#include "base/ids.h"
#include "base/io/http.h"
#include "base/io/log.h"
#include "base/io/smtp.h"
#include "base/process/token_command.h"
#include "base/version.h"
#include "sinks/port/topic_request.h"
#include "worker/agents/reconciler.h"
#include "worker/deliver/topic_client.h"
#include "worker/serve/janitor.h"
#include "worker/sources/llm_section.h"
#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

namespace epilogue {
namespace {

constexpr std::size_t short_id = 8;
constexpr int summariser_threads = 8;

std::chrono::seconds summary_deadline(const Config& config) {
    return config.extensions.get<SummarySection>().deadline;
}

AskRules ask_rules(const Config& config) {
    return {!config.agent_server.url.empty(), summary_deadline(config)};
}

MysqlSettings::Tls tls_of(DatabaseTls written) {
    switch (written) {
        case DatabaseTls::off:
            return MysqlSettings::Tls::off;
        case DatabaseTls::preferred:
            return MysqlSettings::Tls::preferred;
        case DatabaseTls::required:
            return MysqlSettings::Tls::required;
        case DatabaseTls::verified:
            break;
    }
    return MysqlSettings::Tls::verified;
}

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
    settings.tls = tls_of(database.tls);
    settings.tls_ca = database.tls_ca;
    settings.tls_certificate = database.tls_certificate;
    settings.tls_key = database.tls_key;
    return settings;
}

KafkaSettings kafka_settings(const Config& config) {
    return {config.kafka.brokers, "epilogue-" + random_uuid().substr(0, short_id), config.kafka.properties,
            token_command(config.kafka.oauth_token_command)};
}

const ConfigSchema& config_schema() {
    static const ConfigSchema schema({.summary = summary_sections(), .sinks = sink_sections()});
    return schema;
}

std::shared_ptr<const EgressRules> egress_rules(const Config& config) {
    std::vector<std::string> allowed = config.egress.allow;
    const auto trust = [&](const std::string& url) {
        if (const auto address = agent::parse_address(url)) allowed.push_back(address->authority());
    };
    trust(config.agent_server.url);
    for (const auto& each : config.relay.servers) trust(each.url);
    return std::make_shared<const EgressRules>(allowed);
}

std::shared_ptr<const EgressRules> agent_egress_rules(const Config& config) {
    return config.egress.guard_agent_urls ? egress_rules(config) : nullptr;
}

SinkSettings sink_settings(const Config& config) {
    SinkSettings settings;
    settings.sections = config.extensions;
    if (!config.security.keys.empty()) settings.mac_key = config.security.keys.front().reveal();
    settings.version = version;
    settings.egress = egress_rules(config);
    return settings;
}

Transport sink_transport(const Config& config) {
    const auto write = [](const std::string& line) {
        return log_output("conversation ended", {{"delivery", line}});
    };
    const auto topics = std::make_shared<TopicClient>(kafka_settings(config), config.worker.http_timeout);
    const auto record = [topics](const HttpRequest& request) { return topics->answer(request); };
    return {.send = with_topics(with_lines(with_mail(over_http()), write), record)};
}

BatchRules batch_rules(const Config& config) {
    BatchRules rules;
    rules.settle = config.worker.settle;
    rules.hook_wait = config.worker.hook_wait;
    rules.inactivity = config.worker.inactivity_timeout;
    rules.default_agent_server = !config.agent_server.url.empty();
    constexpr std::chrono::seconds longest{120};
    rules.agent_answers_in = std::min(2 * config.worker.http_timeout, longest);
    rules.guard_mass_timeouts = config.worker.timeout_storm == TimeoutStorm::hold;
    return rules;
}

Result<Planner> planner_for(const Config& config, Store& store) {
    TRY(const Installation installation, store.installation());
    return Planner(installation.id, summary_rules(config.extensions), ask_rules(config));
}

AgentDirectoryRules agent_directory_rules(const Config& config) {
    AgentDirectoryRules rules;
    rules.default_url = config.agent_server.url;
    rules.default_key = config.agent_server.session_api_key;
    rules.egress = agent_egress_rules(config);
    rules.deadlines.call = config.worker.http_timeout;
    rules.deadlines.reach = std::min(rules.deadlines.reach, rules.deadlines.call);
    return rules;
}

WatchRules watch_rules(const Config& config) {
    return {config.worker.inactivity_timeout, !config.agent_server.url.empty()};
}

RetentionRules retention_rules(const Config& config) {
    const auto& retention = config.retention;
    return {retention.bodies, retention.ledger, retention.conversations, retention.dead_letters};
}

int appliers(const Config& config) {
    if (config.worker.appliers > 0) return config.worker.appliers;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::size_t post_sessions(const Config& config) {
    // Three sweepers, the adopter, the janitor, the gauges.
    constexpr int others = 3 + 3;
    return static_cast<std::size_t>(config.worker.senders) + summariser_threads + reconciler_threads + others;
}

PartsRules parts_rules(const Config& config, const std::string& owner, const Installation& installation) {
    const auto& kafka = config.kafka;
    const auto& worker = config.worker;
    const SenderClock clock = system_sender_clock();
    return {
        .installation_id = installation.id,
        .summary = summary_rules(config.extensions),
        .asking = ask_rules(config),
        .batch = batch_rules(config),
        .adoption = {installation.created_at, worker.adopt_max_age, watch_rules(config)},
        .sender = {.owner = owner, .lease = worker.lease, .http_timeout = worker.http_timeout},
        .sender_clock = clock,
        .senders = worker.senders,
        .summariser = {.owner = owner,
                       .lease = worker.lease,
                       .deadline = summary_deadline(config),
                       .language = config.extensions.get<SummarySection>().language},
        .summarisers = summariser_threads,
        .queue_limits = {worker.batch_max_records, worker.batch_max_bytes, worker.batch_max_wait},
        .queue_clock = {},
        .poller = {.topic = kafka.topic},
        .start = kafka.start,
        .loop = {.group = kafka.group, .topic = kafka.topic, .owner = owner, .random01 = clock.random01},
        .appliers = appliers(config),
        .reconcile = {kafka.group, kafka.topic, owner, batch_rules(config), worker.adopt_max_age},
    };
}

Reload reloaded(const Config& now, const Config& next) {
    Reload taken{now, {}};
    Config& config = taken.config;
    config.extensions = next.extensions;
    config.extensions.edit<SummarySection>() = now.extensions.get<SummarySection>();
    config.extensions.edit<LlmSection>() = now.extensions.get<LlmSection>();
    config.log = next.log;
    config.worker.api_key = next.worker.api_key;
    config.database.password = next.database.password;
    config.secret_files = next.secret_files;

    const auto compare = [&](const char* name, const auto& in_use, const auto& wanted) {
        if (!(in_use == wanted)) taken.need_restart.emplace_back(name);
    };
    compare("kafka", config.kafka, next.kafka);
    compare("database", config.database, next.database);
    compare("security", config.security, next.security);
    compare("worker", config.worker, next.worker);
    compare("summary", config.extensions.get<SummarySection>(), next.extensions.get<SummarySection>());
    compare("llm", config.extensions.get<LlmSection>(), next.extensions.get<LlmSection>());
    compare("egress", config.egress, next.egress);
    compare("agent_server", config.agent_server, next.agent_server);
    compare("retention", config.retention, next.retention);
    return taken;
}

std::string worker_name() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    return std::string(host.data()) + ":" + std::to_string(getpid()) + ":" +
           random_uuid().substr(0, short_id);
}

}  // namespace epilogue
