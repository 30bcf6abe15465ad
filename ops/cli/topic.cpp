#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/io/kafka_new_topic.h"
#include "ops/cli/command.h"
#include "sinks/topic/topic_section.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

struct Wanted {
    int partitions = 12;
    int replicas = -1;
    int retention_days = 30;
    std::int64_t max_bytes = max_kafka_record_bytes;
};

std::map<std::string, std::string> config_of(const Wanted& wanted) {
    const std::chrono::milliseconds retention = std::chrono::days{wanted.retention_days};
    return {{"cleanup.policy", "delete"},
            {"retention.ms", std::to_string(retention.count())},
            {"max.message.bytes", std::to_string(wanted.max_bytes)}};
}

/// Throws Exit when the topic is not there afterwards.
void make(const Config& config, const std::string& topic, const Wanted& wanted) {
    constexpr std::chrono::seconds answered_within{20};
    const auto made =
        create_topic(kafka_settings(config), {topic, wanted.partitions, wanted.replicas, config_of(wanted)},
                     answered_within);
    if (!made && made.error().remedy == Remedy::poison)
        throw Exit{failed,
                   fmt::format("the broker does not make the topic \"{}\": {}", topic, made.error().text)};
    if (!made)
        throw Exit{made.error().remedy == Remedy::fatal ? configuration : unavailable, made.error().text};
    if (*made)
        fmt::print("{}: made (partitions: {}, kept for {} days, records of up to {} bytes)\n", topic,
                   wanted.partitions, wanted.retention_days, wanted.max_bytes);
    else
        fmt::print("{}: is there already, and was left as it is; `epilogue doctor` judges it\n", topic);
}

}  // namespace

void add_topic(CLI::App& program) {
    auto* parent = program.add_subcommand("topic", "The topic of the conversations' events");
    parent->require_subcommand(1);
    auto* command =
        parent->add_subcommand("create",
                               "Make the topics that [kafka] topic, dead_letter_topic and [outcomes] "
                               "topic name; "
                               "those that are there stay as they are");
    auto common = std::make_shared<Common>();
    auto wanted = std::make_shared<Wanted>();
    add_common(*command, *common, false);
    command->add_option("--partitions", wanted->partitions, "How many workers can share the work, at most")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    command
        ->add_option("--replicas", wanted->replicas,
                     "Brokers that hold each partition (default: the broker's own)")
        ->check(CLI::Range(1, 100));
    command
        ->add_option("--retention-days", wanted->retention_days,
                     "How long events are kept; less than [retention] ledger_days")
        ->check(CLI::Range(1, 36500))
        ->capture_default_str();
    command->add_option("--max-bytes", wanted->max_bytes, "The largest record that the topic takes")
        ->check(CLI::Range(std::int64_t{1024}, max_kafka_answer_bytes))
        ->capture_default_str();
    command->callback([common, wanted] {
        const Config config = load(*common);
        make(config, config.kafka.topic, *wanted);
        const std::string& outcomes = config.extensions.get<OutcomesSection>().topic;
        for (const std::string& more : {config.kafka.dead_letter_topic, outcomes})
            if (!more.empty()) make(config, more, *wanted);
    });
}

}  // namespace epilogue::cli
