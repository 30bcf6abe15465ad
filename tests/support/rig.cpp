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

const std::string& with_topic(const std::string& name, int partitions) {
    broker_of_this_program().create_topic(name, partitions);
    server_of_this_program().create_database(name);
    return name;
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

Stage::Stage(const std::string& name, int partitions, const Settings& more)
    : name_(with_topic(name, partitions)),
      key_text_(printed(Epilogue(Settings{}), {"keygen"})),
      key_(bytes_of_hex(key_text_)),
      settings_(merged({settings_for(broker_of_this_program(), name, name),
                        settings_for(server_of_this_program(), name),
                        settings_for(platform_),
                        {{"security.keys", std::vector<std::string>{key_text_}}},
                        more})),
      epilogue_(settings_) {
    printed(epilogue_, {"migrate"});
}

void Stage::publish(const std::vector<Record>& records) const {
    produce(broker_of_this_program().bootstrap(), name_, records);
}

std::vector<Row> Stage::query(const std::string& sql) const {
    return server_of_this_program().query(sql, name_);
}

std::int64_t Stage::number(const std::string& sql) const {
    const auto rows = query(sql);
    if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0])
        throw std::runtime_error("not one number: " + sql);
    return std::stoll(*rows[0][0]);
}

void Stage::hurry_look_ups() const {
    // One row at a time: a statement over all of them could be in a deadlock with the worker's.
    for (const Row& row : query("SELECT delivery_id FROM deliveries WHERE state='UNKNOWN'"))
        query("UPDATE deliveries SET next_attempt_at=UTC_TIMESTAMP(6) WHERE delivery_id='" +
              row.at(0).value() + "' AND state='UNKNOWN'");
}

PartitionOffsets Stage::ends() const {
    return broker_of_this_program().end_offsets(name_);
}

PartitionOffsets Stage::stored() const {
    PartitionOffsets offsets;
    for (const Row& row : query("SELECT partition_id, next_offset FROM partition_progress"))
        offsets[std::stoi(row.at(0).value())] = std::stoll(row.at(1).value());
    return offsets;
}

PartitionOffsets Stage::committed() const {
    return broker_of_this_program().committed(name_, name_);
}

std::int64_t Stage::add_github(const std::string& conversation, const std::string& repo, std::int64_t number,
                               const std::string& mode) const {
    return add_callback({"--conversation", conversation, "--processor", "github", "--mode", mode,
                         "--processor-json", Json{{"repo", repo}, {"number", number}}.dump()});
}

std::int64_t Stage::add_callback(const std::vector<std::string>& args) const {
    std::vector<std::string> all{"callbacks", "add"};
    all.insert(all.end(), args.begin(), args.end());
    return std::stoll(printed(epilogue_, all));
}

void Story::add(const std::string& source, const std::string& kind, const std::string& what,
                const std::string& inside, const std::string& name, const std::string& text) {
    const Json event{{"id", records_.size() + 1},
                     {"source", source},
                     {"timestamp", "2026-11-21T09:00:00.000000"},
                     {kind, what},
                     {inside, {{name, text}}}};
    records_.push_back({.key = conversation_id_, .value = event.dump()});
}

Story& Story::user(const std::string& text) {
    add("user", "action", "message", "args", "content", text);
    add("environment", "observation", "agent_state_changed", "extras", "agent_state", "running");
    return *this;
}

Story& Story::agent_asks(const std::string& text) {
    add("agent", "action", "message", "args", "content", text);
    add("environment", "observation", "agent_state_changed", "extras", "agent_state", "awaiting_user_input");
    return *this;
}

Story& Story::agent_finishes(const std::string& words) {
    add("agent", "action", "finish", "args", "final_thought", words);
    add("environment", "observation", "agent_state_changed", "extras", "agent_state", "finished");
    return *this;
}

std::string Story::lines() const {
    std::string text;
    for (const Record& record : records_)
        text +=
            Json{{"conversation_id", conversation_id_}, {"event", Json::parse(*record.value)}}.dump() + "\n";
    return text;
}

std::vector<Record> records_of(const std::vector<Story>& stories) {
    std::vector<Record> records;
    for (const Story& story : stories)
        records.insert(records.end(), story.records().begin(), story.records().end());
    return records;
}

}  // namespace epilogue::testing
