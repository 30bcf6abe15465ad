#include "ops/embedded_demo/schedule.h"

#include <algorithm>
#include <variant>

#include "schemas/decode.h"

namespace epilogue::embedded {
namespace {

constexpr std::chrono::milliseconds between_beginnings{900};
constexpr std::chrono::milliseconds a_moment{250};

bool takes_a_moment(const Decoded& decoded) {
    const auto* event = std::get_if<Event>(&decoded);
    return event != nullptr && (std::holds_alternative<UserMessage>(event->body) ||
                                std::holds_alternative<AgentAction>(event->body) ||
                                std::holds_alternative<AgentWord>(event->body));
}

}  // namespace

std::vector<Cue> schedule(const std::vector<Story>& stories) {
    std::vector<Cue> cues;
    Decoder decoder;
    for (std::size_t story = 0; story < stories.size(); ++story) {
        auto at = between_beginnings * static_cast<int>(story);
        for (std::size_t event = 0; event < stories[story].events.size(); ++event) {
            if (takes_a_moment(decoder.decode(stories[story].events[event]))) at += a_moment;
            cues.push_back({at, story, event});
        }
    }
    // Stable: events of one conversation that share a moment stay in order.
    std::stable_sort(cues.begin(), cues.end(), [](const Cue& a, const Cue& b) { return a.at < b.at; });
    return cues;
}

}  // namespace epilogue::embedded
