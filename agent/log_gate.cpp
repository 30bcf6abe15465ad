#include "agent/log_gate.h"

#include <algorithm>

#include "base/backoff.h"

namespace epilogue::agent {
namespace {

using std::chrono::milliseconds;

constexpr int unhandled = 500;  // what a server says of a log that it cannot read; a proxy has 502 to 504
constexpr milliseconds longest_pause{600'000};
constexpr milliseconds wait_for_another{1'000};
constexpr int times_its_work = 4;
constexpr std::size_t most_troubles = 10'000;

}  // namespace

AgentResult<LogGate::Place> LogGate::enter(const std::string& conversation) {
    const auto now = now_();
    const std::lock_guard lock(mutex_);
    const auto found = troubles_.find(conversation);
    if (found == troubles_.end()) return Place{now, false};
    const auto left = std::chrono::ceil<milliseconds>(found->second.due - now);
    if (left > milliseconds(0))
        return AgentFailure(
            AgentError{AgentError::Kind::server_error, found->second.reason, false, unhandled, left});
    if (busy_)
        return AgentFailure(AgentError{AgentError::Kind::overloaded,
                                       "another log that the agent server cannot read is being asked for",
                                       false, 0, wait_for_another});
    busy_ = true;
    return Place{now, true};
}

void LogGate::leave(const std::string& conversation, const Place& place, AgentError* error) {
    const auto now = now_();
    const std::lock_guard lock(mutex_);
    if (place.troubled) busy_ = false;
    if (error == nullptr) {
        troubles_.erase(conversation);
        return;
    }
    if (error->status != unhandled) return;
    if (troubles_.size() >= most_troubles) troubles_.clear();
    Trouble& trouble = troubles_[conversation];
    const auto work = std::chrono::duration_cast<milliseconds>(now - place.since) * times_its_work;
    error->retry_after = full_jitter(++trouble.failures, 1.0, std::max(first_pause_, work), longest_pause);
    trouble.due = now + error->retry_after;
    trouble.reason = error->text;
}

bool LogGate::spares_any() const {
    const auto now = now_();
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(troubles_,
                               [&](const auto& each) { return now < each.second.due + longest_pause; });
}

}  // namespace epilogue::agent
