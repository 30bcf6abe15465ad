#include "agent/relay/follow/plan.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"

namespace epilogue::relay {
namespace {

constexpr int longest_look = 10;  // times look_after

}  // namespace

FollowPlan::FollowPlan(LogPosition position, PlanRules rules)
    : rules_(rules), acked_(position), ahead_(std::move(position)) {}

Effects FollowPlan::begin() {
    start();
    plan_look(false);
    return std::exchange(effects_, {});
}

Effects FollowPlan::step(Happening happening) {
    if (ended_) return {};
    std::visit([this](auto& each) { handle(std::move(each)); }, happening);
    return std::exchange(effects_, {});
}

std::int64_t FollowPlan::behind() const {
    return std::max(std::max(server_count_, ahead_.next) - position().next, std::int64_t{0});
}

void FollowPlan::handle(CountRead&& happening) {
    server_has(happening.count);
    count(happening);
}

void FollowPlan::handle(NotFound&&) {
    ended_ = true;
    add(Ended{});
}

void FollowPlan::handle(Acked&& happening) {
    if (acked_.acked(happening.ticket)) add(Moved{position()});
}

void FollowPlan::handle(GivenUp&& happening) {
    if (mutant(Mutant::followed_given_up_forgotten)) return handle(Acked{happening.ticket});
    if (!acked_.is_known(happening.ticket)) return;
    acked_.forget();
    ahead_ = position();
    restart();
}

void FollowPlan::produce(const agent::RemoteEvent& event, std::optional<std::int64_t> seq, LogPosition then) {
    ahead_ = std::move(then);
    if (ahead_.renumbered) seq.reset();
    add(Produce{event.json, seq, false, acked_.sent(ahead_)});
}

void FollowPlan::produce_run_over(const agent::RemoteEvent& snapshot) {
    add(Produce{snapshot.json, std::nullopt, true, acked_.sent(ahead_)});
}

void FollowPlan::log_is_another() {
    ahead_ = LogPosition{0, "", true};
    restart();
}

void FollowPlan::plan_look(bool silent) {
    silent_looks_ = silent ? silent_looks_ + 1 : 0;
    const int times = std::min(longest_look, 1 << std::min(silent_looks_, longest_look));
    add(SetTimer{Timer::look, rules_.look_after * times});
}

}  // namespace epilogue::relay
