#include <filesystem>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/ids.h"
#include "base/io/kafka.h"
#include "base/io/kafka_topic.h"
#include "ops/cli/command.h"
#include "schemas/decode.h"
#include "schemas/publish_line.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

struct Counts {
    std::int64_t lines = 0;
    std::int64_t wrong = 0;
};

std::vector<std::pair<std::string, std::string>> headers_of(const PublishLine& line) {
    if (!line.seq) return {};
    return {{"seq", std::to_string(*line.seq)}};
}

/// Produces what can be produced; says which lines cannot.
Counts produce_lines(std::istream& input, KafkaProducer& producer) {
    Counts counts;
    std::int64_t number = 0;
    for (std::string line; std::getline(input, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        ++counts.lines;
        const auto parsed = parse_publish_line(line);
        const auto produced =
            parsed ? producer.produce(parsed->conversation_id, parsed->event, headers_of(*parsed))
                   : Result<void>(Failure(parsed.error()));
        if (produced) continue;
        ++counts.wrong;
        fmt::print(stderr, "epilogue: line {}: {}\n", number, produced.error().text);
    }
    return counts;
}

}  // namespace

void add_publish(CLI::App& program) {
    auto* command = program.add_subcommand(
        "publish", "Produce JSON lines {\"conversation_id\", \"event\", \"seq\"?} to the topic");
    auto common = std::make_shared<Common>();
    auto file = std::make_shared<std::string>();
    add_common(*command, *common, false);
    command->add_option("--file", *file, "Read from this file (default: standard input)");
    command->callback([common, file] {
        const Config config = load(*common);
        std::ifstream opened;
        if (!file->empty()) {
            opened.open(*file);
            if (!opened) throw Exit{usage, "--file " + *file + ": cannot be read"};
            if (std::filesystem::is_directory(*file)) throw Exit{usage, "--file " + *file + ": is a folder"};
        }
        constexpr std::chrono::seconds reachable_within{8};
        if (const auto there = find_topic(kafka_settings(config), config.kafka.topic, reachable_within);
            !there) {
            if (there.error().remedy == Remedy::fatal) refuse_configuration(*common, there.error());
            throw Exit{unavailable, there.error().text};
        }
        const auto producer = expect(KafkaProducer::open(kafka_settings(config), config.kafka.topic));
        const Counts counts = produce_lines(file->empty() ? std::cin : opened, *producer);
        constexpr std::chrono::seconds answered_within{35};  // message.timeout.ms and a little
        const bool all_answered = producer->flush(answered_within);
        fmt::print("{} of {} acknowledged\n", producer->acknowledged(), counts.lines);
        if (!all_answered || producer->refused() > 0)
            throw Exit{failed, "some records were not acknowledged: " + producer->last_error()};
        if (counts.wrong > 0) throw Exit{failed, ""};
    });
}

}  // namespace epilogue::cli
