#include "agent/run_watch.h"

#include <algorithm>

#include "agent/event.h"
#include "base/backoff.h"
#include "base/hook_wait.h"

namespace epilogue::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto old_status_stands = 30s;  // longer than a server that was restarted needs to begin a run
constexpr auto finished_stands = 250ms;  // a message that came during the last step takes it back within 3 ms
constexpr auto snapshot_follows = 100ms;
constexpr auto ask_while_standing = 100ms;
constexpr auto ask_without_socket = 1s;
constexpr auto ask_with_socket = 5s;  // a deleted conversation's socket stays open, and is silent

}  // namespace

bool RunWatch::may_be_old(std::string_view status) const {
    return before_ == an_end ? ends_run(status) : status == before_;
}

void RunWatch::saw(std::string_view status, bool after_run, std::string_view timestamp) {
    const bool is_of_this_run = (moved_ || !may_be_old(status)) && timestamp >= newest_;
    if (!after_run && !ends_run(status)) over_.reset();
    if (after_run && ends_run(status) && is_of_this_run) over_ = status;
    told_ = status;
    newest_ = std::max<std::string>(newest_, std::string(timestamp));
    if (!may_be_old(status) || (after_run && before_ != an_end)) moved_ = true;
}

void RunWatch::goal(bool goes_on) {
    if (goal_goes_on_ && !goes_on) moved_ = true;
    goal_goes_on_ = goes_on;
}

bool RunWatch::ends_round(std::string_view status) const {
    return goal_goes_on_ && (status == "finished" || status == "stuck");
}

std::optional<std::string> RunWatch::over() const {
    if (over_ && ends_round(*over_)) return std::nullopt;
    return over_;
}

bool RunWatch::confirm(std::string_view status, Clock::time_point now, std::size_t hooks_passed) {
    failures_ = 0;
    waits_for_hook_ = false;
    waits_for_goal_ = ends_round(status);
    if (!may_be_old(status)) moved_ = true;
    if (!ends_run(status)) {
        standing_since_.reset();
        return false;
    }
    if (!standing_since_ || standing_ != status) standing_since_ = now;
    standing_ = status;
    if (waits_for_goal_) return false;
    const auto stands = now - *standing_since_;
    if (!moved_) return stands >= old_status_stands;
    if (status != "finished") return true;
    waits_for_hook_ = hooks_passed < stop_hooks_;
    return stands >=
           (waits_for_hook_ ? Clock::duration(default_hook_wait) : Clock::duration(finished_stands));
}

std::optional<std::string> RunWatch::failed_by_socket() const {
    if (!moved_ || ends_round(told_) || (told_ != "error" && told_ != "stuck")) return std::nullopt;
    return told_;
}

RunWatch::Clock::time_point RunWatch::ask_next(Clock::time_point now, bool live) const {
    const Clock::duration longest = live ? ask_with_socket : ask_without_socket;
    if (failures_ > 0)
        return now + full_jitter(failures_, 1.0, 100ms,
                                 std::chrono::duration_cast<std::chrono::milliseconds>(longest));
    if (waits_for_goal_) return now + longest;
    if (waits_for_hook_) return now + ask_without_socket;
    if (standing_since_) return now + ask_while_standing;
    if (!moved_ && (before_ == an_end || ends_run(before_)))
        return now + ask_without_socket;  // perhaps there is nothing to do
    return now + longest;
}

RunWatch::Clock::time_point RunWatch::ask_after_end(Clock::time_point now) {
    return now + snapshot_follows;
}

}  // namespace epilogue::agent
