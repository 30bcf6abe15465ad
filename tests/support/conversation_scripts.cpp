#include "tests/support/conversation_scripts.h"

#include <nlohmann/json.hpp>

#include "tests/support/v1_events.h"

namespace epilogue::testing {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void V0Conversation::add(const std::string& source, const std::string& kind, const std::string& what,
                         const std::string& inside, const std::string& name, const std::string& text) {
    const Json event{{"id", records_.size() + 1},
                     {"source", source},
                     {"timestamp", "2026-11-21T09:00:00.000000"},
                     {kind, what},
                     {inside, {{name, text}}}};
    records_.push_back({.key = conversation_id_, .value = event.dump()});
}

V0Conversation& V0Conversation::user(const std::string& text) {
    add("user", "action", "message", "args", "content", text);
    add("environment", "observation", "agent_state_changed", "extras", "agent_state", "running");
    return *this;
}

V0Conversation& V0Conversation::agent_asks(const std::string& text) {
    add("agent", "action", "message", "args", "content", text);
    add("environment", "observation", "agent_state_changed", "extras", "agent_state", "awaiting_user_input");
    return *this;
}

V0Conversation& V0Conversation::agent_finishes(const std::string& words) {
    add("agent", "action", "finish", "args", "final_thought", words);
    add("environment", "observation", "agent_state_changed", "extras", "agent_state", "finished");
    return *this;
}

std::vector<Record> V0Conversation::records_since(std::size_t known) const {
    return {records_.begin() + static_cast<std::ptrdiff_t>(known), records_.end()};
}

std::string V0Conversation::lines() const {
    std::string text;
    for (const Record& record : records_)
        text +=
            Json{{"conversation_id", conversation_id_}, {"event", Json::parse(*record.value)}}.dump() + "\n";
    return text;
}

std::vector<Record> records_of(const std::vector<V0Conversation>& conversations) {
    std::vector<Record> records;
    for (const V0Conversation& conversation : conversations)
        records.insert(records.end(), conversation.records().begin(), conversation.records().end());
    return records;
}

std::string V1Conversation::next_stamp() {
    return "2026-11-21T09:00:" + std::to_string(10 + events_++);
}

Record V1Conversation::user(const std::string& id) {
    return {.key = id_, .value = v1::user_message(id, next_stamp(), "Go on.")};
}

Record V1Conversation::status(const std::string& value) {
    const std::string stamp = next_stamp();
    return {.key = id_, .value = v1::status("status-" + std::to_string(events_), stamp, value)};
}

Record V1Conversation::stats() {
    const std::string stamp = next_stamp();
    return {.key = id_, .value = v1::state("stats-" + std::to_string(events_), stamp, "stats", "{}")};
}

}  // namespace epilogue::testing
