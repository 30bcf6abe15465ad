#include "agent/relay/follow/session_frame.h"

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"

namespace epilogue::relay {
namespace {

using agent::Json;

std::optional<std::int64_t> number_in(const Json& object, const char* name) {
    const Json& member = agent::member_of(object, name);
    if (!member.is_number_integer()) return std::nullopt;
    return member.get<std::int64_t>();
}

}  // namespace

std::optional<Happening> parse_session_frame(std::string_view text) {
    const Json frame = parse_ordered_json(text);
    const std::string type = agent::string_in(frame, "type");
    if (type == "sync") return SyncFrame{number_in(frame, "through_seq")};
    if (type != "durable" && type != "transient") return std::nullopt;
    auto event = agent::parse_event(agent::text_of(agent::member_of(frame, "event")));
    if (!event) return std::nullopt;
    return EventFrame{std::move(*event), type == "durable" ? number_in(frame, "seq") : std::nullopt};
}

}  // namespace epilogue::relay
