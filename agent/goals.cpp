#include "agent/goals.h"

#include <optional>

namespace epilogue::agent {
namespace {

/// How many events may stand between a loop's update and its message: the new status, statistics.
constexpr int most_between = 20;

}  // namespace

AgentResult<bool> goal_goes_on(const ConversationCalls& calls, ConversationCalls::Clock::time_point until) {
    const auto features = calls.server().features();
    if (!features) return AgentFailure(features.error());
    if (!features->goals) return false;
    bool goes_on = false;
    std::optional<int> left;
    const auto read = calls.read_back(until, [&](const RemoteEvent& event) {
        if (event.goal) {
            goes_on = *event.goal;
            return false;
        }
        if (!left && event.kind == "MessageEvent" && event.source == "user") left = most_between;
        return !left || --*left >= 0;
    });
    if (!read) return AgentFailure(read.error());
    return goes_on;
}

}  // namespace epilogue::agent
