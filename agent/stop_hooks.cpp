#include "agent/stop_hooks.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"

namespace epilogue::agent {
namespace {

bool is_waited_for(const Json& hook) {
    const auto is_true = [&](const char* name) {
        const Json& value = member_of(hook, name);
        return value.is_boolean() && value.get<bool>();
    };
    return !is_true("async") && !is_true("async_");
}

}  // namespace

std::size_t stop_hooks_in(std::string_view info) {
    const Json conversation = parse_ordered_json(info);
    const Json& matchers = member_of(member_of(conversation, "hook_config"), "stop");
    std::size_t count = 0;
    if (!matchers.is_array()) return count;
    for (const Json& matcher : matchers) {
        const Json& hooks = member_of(matcher, "hooks");
        if (!hooks.is_array()) continue;
        count += static_cast<std::size_t>(std::count_if(hooks.begin(), hooks.end(), is_waited_for));
    }
    return count;
}

bool has_stop_hook(const EventList& events) {
    return std::any_of(events.begin(), events.end(),
                       [](const EventRef& event) { return event->stop != StopVerdict::none; });
}

std::size_t stop_hooks_passed(const EventList& events) {
    std::size_t passed = 0;
    for (auto at = events.end(); at != events.begin();) {
        const RemoteEvent& event = **--at;
        if (event.stop == StopVerdict::denied) return 0;
        if (event.stop == StopVerdict::allowed) ++passed;
        if (!event.status.empty()) return event.status == "finished" ? passed : 0;
    }
    return 0;
}

}  // namespace epilogue::agent
