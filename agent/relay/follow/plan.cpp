#include "agent/relay/follow/plan.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"

namespace epilogue::relay {
namespace {

constexpr int longest_look = 10;   // times look_after
constexpr int longest_pause = 10;  // times retry_after

/// 1, 2, 4 … for 0, 1, 2 …, at most `most`.
int doubled(int times, int most) {
    return std::min(most, 1 << std::min(times, most));
}

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
    if (!acked_.acked(happening.ticket)) return;
    given_up_ = 0;
    add(Moved{position()});
}

void FollowPlan::handle(GivenUp&& happening) {
    if (mutant(Mutant::followed_given_up_forgotten)) return handle(Acked{happening.ticket});
    if (!acked_.is_known(happening.ticket)) return;
    acked_.forget();
    ahead_ = position();
    // What Kafka refuses at once would be read and refused as fast as it can be.
    restart_after(rules_.retry_after * doubled(given_up_++, longest_pause));
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
    add(SetTimer{Timer::look, rules_.look_after * doubled(silent_looks_, longest_look)});
}

}  // namespace epilogue::relay
