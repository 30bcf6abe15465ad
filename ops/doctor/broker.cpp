#include "ops/doctor/broker.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "schemas/json_reader.h"
#include "worker/settings.h"

namespace epilogue::doctor {
namespace {

const std::string kafka = "kafka";

std::optional<std::int64_t> number_at(const std::map<std::string, std::string>& config,
                                      const std::string& name) {
    const auto found = config.find(name);
    return found == config.end() ? std::nullopt : integer_in(found->second);
}

Finding judge_retention(const Config& config, std::int64_t retention_ms) {
    const auto kept = std::chrono::milliseconds{retention_ms};
    const std::string held = retention_ms < 0
                                 ? "for ever"
                                 : fmt::format("{} days", std::chrono::ceil<std::chrono::days>(kept).count());
    if (retention_ms >= 0 && kept <= config.retention.ledger)
        return {Severity::ok, kafka, "retention", "the topic keeps its events " + held, ""};
    return {
        Severity::warning, kafka, "retention",
        fmt::format("the topic keeps its events {}, the ledger of posts only {} days: read again from the "
                    "beginning, old turns would be posted a second time",
                    held, config.retention.ledger.count()),
        "raise [retention] ledger_days above the topic's retention, or lower the topic's retention.ms"};
}

/// The most that one fetch of ours can hold.
std::int64_t fetch_limit(const Config& config) {
    return number_at(config.kafka.properties, "receive.message.max.bytes").value_or(max_kafka_answer_bytes);
}

Finding judge_size(const Config& config, std::int64_t bytes) {
    constexpr std::int64_t room = 4096;  // for what stands around a batch in an answer
    const std::int64_t limit = fetch_limit(config);
    const auto text = fmt::format("the topic takes batches of up to {} bytes", bytes);
    if (bytes + room > limit)
        return {
            Severity::error, kafka, "record size",
            text + fmt::format(", more than one answer to us may hold ({}): such a record would stop its "
                               "partition",
                               limit),
            "lower the topic's max.message.bytes, or raise receive.message.max.bytes in [kafka] properties"};
    constexpr auto largest_event = static_cast<std::int64_t>(max_json_bytes);
    if (bytes < largest_event)
        return {
            Severity::warning, kafka, "record size",
            text + fmt::format("; an agent's event may have {}: a larger one than the topic takes never "
                               "gets there",
                               largest_event),
            fmt::format("raise the topic's max.message.bytes to {} (kafka-configs.sh --alter --add-config "
                        "max.message.bytes={})",
                        max_kafka_record_bytes, max_kafka_record_bytes)};
    const bool may_be_too_large = bytes > largest_event;
    const auto limit_of_ours =
        fmt::format("; a record of more than {} becomes a dead letter", max_json_bytes);
    return {Severity::ok, kafka, "record size", text + (may_be_too_large ? limit_of_ours : ""), ""};
}

Findings judge_transport(const Config& config) {
    const auto protocol = config.kafka.properties.find("security.protocol");
    const bool is_plain = protocol == config.kafka.properties.end() ||
                          lowered(protocol->second).find("ssl") == std::string::npos;
    if (!is_plain || is_loopback(config.kafka.brokers)) return {};
    return {{Severity::warning, kafka, "encryption", "events travel unencrypted to " + config.kafka.brokers,
             "set security.protocol to SSL or SASL_SSL in [kafka] properties"}};
}

/// Versions that a fault of theirs makes unfit for something that users do, by KafkaVersion::number.
struct FaultyVersions {
    unsigned from;
    unsigned before;  ///< the first one without the fault
    bool ours_too;    ///< false: ops/librdkafka mends it
    std::string_view fault;
};
constexpr unsigned no_version = 0xffffffff;
constexpr std::array<FaultyVersions, 4> faulty_versions{
    {{0, 0x02060100, true, "SCRAM fails with Kafka 4 (its nonce is repeated wrongly)"},
     {0, 0x02030000, true,
      "it cannot ask a broker for rights: a missing one is seen only by what fails for want of it"},
     {0x02030000, no_version, false,
      "it is not asked for the right to join a group, because that may end the process "
      "(https://github.com/confluentinc/librdkafka/issues/4605)"},
     {0x020a0000, no_version, false,
      "when all brokers restart it may forget them for good; only a restart of the worker helps "
      "(https://github.com/confluentinc/librdkafka/issues/5301)"}}};

}  // namespace

Finding judge_client(const KafkaVersion& version) {
    std::string faults;
    for (const auto& [from, before, ours_too, fault] : faulty_versions) {
        const bool is_there = from <= version.number && version.number < before;
        if (is_there && (ours_too || !version.is_ours))
            faults += fmt::format("{}{}", faults.empty() ? "" : "; ", fault);
    }
    if (faults.empty()) return {Severity::ok, kafka, "client", "librdkafka " + version.name, ""};
    return {Severity::warning, kafka, "client", "librdkafka " + version.name + ": " + faults,
            "build without -DEPILOGUE_SYSTEM_LIBRDKAFKA, which links the version that is known to work"};
}

bool is_loopback(const std::string& addresses) {
    const auto all = split(addresses, ',');
    return std::all_of(all.begin(), all.end(), [](const std::string& address) {
        return address.starts_with("127.") || address.starts_with("localhost") ||
               address.starts_with("[::1]") || address == "::1";
    });
}

Findings judge_topic(const Config& config, const TopicFacts& topic) {
    Findings findings;
    const auto count = topic.partitions.size();
    if (count == 1)
        findings.push_back({Severity::warning, kafka, "partitions",
                            "the topic has one partition: one worker of the pool has work, the others wait",
                            "make the topic with several (`epilogue topic create`); of one that is used "
                            "already raise the number while nothing is left to read"});
    if (topic.config.empty()) {
        findings.push_back({Severity::warning, kafka, "topic settings",
                            "the broker does not tell them: " + topic.config_refused,
                            "grant our user DescribeConfigs on the topic; without it this is not checked"});
        return findings;
    }
    if (const auto retention = number_at(topic.config, "retention.ms"))
        findings.push_back(judge_retention(config, *retention));
    if (const auto bytes = number_at(topic.config, "max.message.bytes"))
        findings.push_back(judge_size(config, *bytes));
    const auto policy = topic.config.find("cleanup.policy");
    if (policy != topic.config.end() && policy->second.find("compact") != std::string::npos)
        findings.push_back({Severity::error, kafka, "cleanup policy",
                            "the topic is compacted: of each conversation only the newest event stays",
                            "set the topic's cleanup.policy to delete"});
    return findings;
}

Findings judge_positions(const Config& config, const TopicFacts& topic, const StoredPositions& positions) {
    if (positions.empty())
        return {{Severity::ok, kafka, "position", "nothing was read of this topic yet", ""}};
    std::int64_t lag = 0;
    int first = 0;
    bool is_known_cluster = true;
    bool is_own_group = true;
    for (const auto& [partition, marks] : topic.partitions) {
        const auto stored = positions.find(partition);
        lag += std::max<std::int64_t>(
            0, marks.high - (stored == positions.end() ? marks.low : stored->second.next_offset));
        if (stored == positions.end()) continue;
        first = std::max(first, stored->second.first_partitions.value_or(0));
        is_known_cluster =
            is_known_cluster && (topic.cluster_id.empty() || stored->second.cluster_id.empty() ||
                                 stored->second.cluster_id == topic.cluster_id);
        is_own_group = is_own_group && stored->second.group == config.kafka.group;
    }
    Findings findings{
        {Severity::ok, kafka, "position", fmt::format("{} records are still to be read", lag), ""}};
    const auto count = static_cast<int>(topic.partitions.size());
    if (first > 0 && count > first && lag > 0)
        findings.push_back({Severity::warning, kafka, "partitions",
                            fmt::format("the topic had {} partition{} and has {}, with {} record{} unread: a "
                                        "turn whose events stand in two of them may be reported as one",
                                        first, first == 1 ? "" : "s", count, lag, lag == 1 ? "" : "s"),
                            "raise the number of partitions only when nothing is left to read"});
    if (!is_known_cluster)
        findings.push_back({Severity::warning, kafka, "cluster",
                            "the stored positions are of another Kafka cluster: the topic will be read from "
                            "its beginning",
                            "check [kafka] brokers; see `epilogue offsets show`"});
    if (!is_own_group)
        findings.push_back({Severity::warning, kafka, "group",
                            "the newest positions are of another consumer group: two groups must not share "
                            "tables",
                            "check [kafka] group; see `epilogue offsets show`"});
    return findings;
}

BrokerVisit visit_broker(const Config& config, std::chrono::milliseconds wait) {
    BrokerVisit visit;
    visit.findings.push_back(judge_client(kafka_version()));
    auto asked = topic_facts(kafka_settings(config),
                             {config.kafka.topic, config.kafka.group, config.kafka.dead_letter_topic}, wait);
    if (!asked) {
        const bool is_setting = asked.error().remedy == Remedy::fatal;
        visit.findings.push_back(
            {is_setting ? Severity::error : Severity::unreachable, kafka, "broker",
             is_setting ? asked.error().text
                        : "no broker answers at " + config.kafka.brokers + ": " + asked.error().text,
             is_setting ? "mend [kafka] properties"
                        : "check [kafka] brokers, that Kafka runs, and that TLS and SASL "
                          "are as its listener wants them ([kafka] properties)"});
        return visit;
    }
    visit.findings.push_back(
        {Severity::ok, kafka, "broker", "a broker answers at " + config.kafka.brokers, ""});
    for (Finding& finding : judge_transport(config)) visit.findings.push_back(std::move(finding));
    if (!*asked) {
        visit.findings.push_back({Severity::error, kafka, "topic",
                                  "there is no topic \"" + config.kafka.topic + "\"",
                                  "make it with `epilogue topic create`, or check [kafka] topic"});
        return visit;
    }
    for (const std::string& missing : (*asked)->missing_rights)
        visit.findings.push_back({Severity::error, kafka, "rights", missing,
                                  "grant it (kafka-acls.sh --add --allow-principal User:… --operation …)"});
    if ((*asked)->partitions.empty()) return visit;
    visit.topic = std::move(**asked);
    visit.findings.push_back(
        {Severity::ok, kafka, "topic",
         fmt::format("\"{}\" is there, partitions: {}", config.kafka.topic, visit.topic->partitions.size()),
         ""});
    for (Finding& finding : judge_topic(config, *visit.topic)) visit.findings.push_back(std::move(finding));
    return visit;
}

}  // namespace epilogue::doctor
