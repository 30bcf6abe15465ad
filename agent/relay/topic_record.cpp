#include "agent/relay/topic_record.h"

#include <algorithm>
#include <utility>

#include "agent/event.h"
#include "agent/relay/trimmed_event.h"
#include "schemas/json_edit.h"
#include "schemas/json_reader.h"

namespace epilogue::relay {
namespace {

const WantedPart wanted{"",
                        {{"kind"},
                         {"id"},
                         {"timestamp"},
                         {"source"},
                         {"key"},
                         {"value", {{"execution_status"}, {"hook_config"}}}}};

bool is_full_state(const JsonPart& event) {
    return event["kind"].string() == "ConversationStateUpdateEvent" && event["key"].string() == "full_state";
}

bool ends_a_run(const JsonPart& event, FullState door_says) {
    if (door_says == FullState::by_status)
        return agent::ends_run(event["value"]["execution_status"].string_or_empty());
    return door_says == FullState::ends_run;
}

bool says_that_a_run_is_over(const JsonPart& event) {
    const bool is_status = event["key"].string() == "execution_status";
    const std::string_view status =
        (is_status ? event["value"] : event["value"]["execution_status"]).string_or_empty();
    return event["kind"].string() == "ConversationStateUpdateEvent" &&
           (agent::ends_run(status) || status == "deleting");
}

/// What a `full_state` says at the end of a run: whose it is, the status, and whether there is a stop hook.
std::string trimmed_state(JsonReader& json, std::string_view text, const JsonPart& event) {
    std::string state;
    for (const char* name : {"kind", "id", "timestamp", "source", "key"}) {
        const JsonPart& member = event[name];
        if (!member.string()) continue;
        state += (state.empty() ? "{" : ",") + json_string(name) + ":" + json_string(*member.string());
    }
    const JsonPart& value = event["value"];
    state += R"(,"value":{"execution_status":)" + json_string(value["execution_status"].string_or_empty());
    if (value["hook_config"].is_given())
        state += R"(,"hook_config":)" + json.raw_member(json.raw_member(text, "value"), "hook_config");
    return state + "}}";
}

}  // namespace

RecordOrNot TopicRecords::make(const DoorEvent& from, std::size_t limit) const {
    thread_local JsonReader json;
    std::string trimmed;
    if (from.json.size() > limit) trimmed = trimmed_event(from.json, limit);
    const std::string_view text = trimmed.empty() ? from.json : trimmed;
    const auto event = json.read(text, wanted);
    if (!event) return NoEvent{std::string(event.error().reason) + " " + event.error().detail};
    const std::string_view kind = (*event)["kind"].string_or_empty();
    if (!kind.empty() && std::ranges::find(leave_out_, kind) != leave_out_.end())
        return LeftOut::unwanted_kind;

    MadeRecord made{{from.conversation_id, {}, {{"source", std::string(door_names.of(from.door))}}},
                    !trimmed.empty()};
    if (is_full_state(*event)) {
        if (!ends_a_run(*event, from.full_state)) return LeftOut::snapshot;
        made.record.value = trimmed_state(json, text, *event);
        made.record.headers.emplace_back("run_over", "1");
    } else {
        made.record.value = trimmed.empty() ? std::string(from.json) : std::move(trimmed);
    }
    made.event_id = (*event)["id"].string_or_empty();
    made.ends_run = says_that_a_run_is_over(*event);
    if (from.seq) made.record.headers.emplace_back("seq", std::to_string(*from.seq));
    if (!from.traceparent.empty()) made.record.headers.emplace_back("traceparent", from.traceparent);
    return made;
}

}  // namespace epilogue::relay
