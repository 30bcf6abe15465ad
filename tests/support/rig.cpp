#include "tests/support/rig.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace epilogue::testing {
namespace {

using Json = nlohmann::ordered_json;

/// What it printed on standard output; throws when it failed.
std::string printed(const Epilogue& epilogue, const std::vector<std::string>& args) {
    const auto done = epilogue.run(args);
    if (done.status == 0) return std::string(trimmed(done.out));
    throw std::runtime_error("epilogue " + args.at(0) + " ended with " + std::to_string(done.status) + ": " +
                             done.err);
}

std::string bytes_of_hex(const std::string& hex) {
    constexpr int base = 16;
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, base));
    return bytes;
}

/// The plan with a topic's name, after topic and database were created.
RigPlan prepared(const KafkaBroker& broker, const Database& server, RigPlan plan) {
    if (plan.topic.empty()) plan.topic = plan.name;
    if (plan.partitions > 0) broker.create_topic(plan.topic, plan.partitions);
    server.create_database(plan.name);
    return plan;
}

}  // namespace

KafkaBroker& broker_of_this_program() {
    static KafkaBroker one;
    return one;
}

Database& server_of_this_program() {
    static Database one;
    return one;
}

Rig::Rig(const std::string& name, int partitions, const Settings& more)
    : Rig(broker_of_this_program(), server_of_this_program(),
          {.name = name, .partitions = partitions, .more = more}) {}

Rig::Rig(const KafkaBroker& broker, const Database& server, const RigPlan& plan)
    : broker_(broker),
      server_(server),
      plan_(prepared(broker, server, plan)),
      key_text_(printed(Epilogue(Settings{}), {"keygen"})),
      key_(bytes_of_hex(key_text_)),
      settings_(merged({settings_for(broker, plan_.topic, plan_.name),
                        settings_for(server, plan_.name),
                        settings_for(platform_),
                        {{"security.keys", std::vector<std::string>{key_text_}}},
                        plan_.more})),
      epilogue_(settings_) {
    printed(epilogue_, {"migrate"});
}

void Rig::publish(const std::vector<Record>& records) const {
    produce(broker_.bootstrap(), plan_.topic, records);
}

std::vector<Row> Rig::query(const std::string& sql) const {
    return server_.query(sql, plan_.name);
}

std::int64_t Rig::number(const std::string& sql) const {
    return server_.number(sql, plan_.name);
}

void Rig::hurry_look_ups() const {
    // One row at a time: a statement over all of them would run into deadlocks with the worker's often.
    for (const Row& row : query("SELECT delivery_id FROM deliveries WHERE state='UNKNOWN'"))
        query("UPDATE deliveries SET next_attempt_at=UTC_TIMESTAMP(6) WHERE delivery_id='" +
              row.at(0).value() + "' AND state='UNKNOWN'");
}

PartitionOffsets Rig::ends() const {
    return broker_.end_offsets(plan_.topic);
}

PartitionOffsets Rig::stored() const {
    PartitionOffsets offsets;
    for (const Row& row : query("SELECT partition_id, next_offset FROM partition_progress"))
        offsets[std::stoi(row.at(0).value())] = std::stoll(row.at(1).value());
    return offsets;
}

PartitionOffsets Rig::committed() const {
    return broker_.committed(plan_.name, plan_.topic);
}

std::int64_t Rig::add_github(const std::string& conversation, const std::string& repo, std::int64_t number,
                             const std::string& mode) const {
    return add_callback({"--conversation", conversation, "--processor", "github", "--mode", mode,
                         "--processor-json", Json{{"repo", repo}, {"number", number}}.dump()});
}

std::int64_t Rig::add_callback(const std::vector<std::string>& args) const {
    std::vector<std::string> all{"callbacks", "add"};
    all.insert(all.end(), args.begin(), args.end());
    return std::stoll(printed(epilogue_, all));
}

}  // namespace epilogue::testing
