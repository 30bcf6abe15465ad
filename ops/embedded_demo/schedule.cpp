#include "ops/embedded_demo/schedule.h"

#include <algorithm>
#include <variant>

#include "schemas/decode.h"

namespace epilogue::demo {
namespace {

constexpr std::chrono::milliseconds between_beginnings{900};
constexpr std::chrono::milliseconds a_moment{250};

bool takes_a_moment(const Decoded& decoded) {
    const auto* event = std::get_if<Event>(&decoded);
    return event != nullptr && (std::holds_alternative<UserMessage>(event->body) ||
                                std::holds_alternative<AgentAction>(event->body) ||
                                std::holds_alternative<AgentMessage>(event->body));
}

}  // namespace

std::vector<ScheduledEvent> schedule(const std::vector<Scenario>& scenarios) {
    std::vector<ScheduledEvent> events;
    Decoder decoder;
    for (std::size_t scenario = 0; scenario < scenarios.size(); ++scenario) {
        auto at = between_beginnings * static_cast<int>(scenario);
        for (std::size_t event = 0; event < scenarios[scenario].events.size(); ++event) {
            if (takes_a_moment(decoder.decode(scenarios[scenario].events[event]))) at += a_moment;
            events.push_back({at, scenario, event});
        }
    }
    // Stable: events of one conversation that share a moment stay in order.
    std::stable_sort(events.begin(), events.end(),
                     [](const ScheduledEvent& a, const ScheduledEvent& b) { return a.at < b.at; });
    return events;
}

}  // namespace epilogue::demo
