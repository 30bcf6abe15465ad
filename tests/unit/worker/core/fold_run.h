// Runs of the fold: conversations told event by event, and what the fold makes of them as text that a person
// can read.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "worker/core/fold.h"

namespace epilogue {

/// Where the record times and the own timestamps of every run start.
constexpr Instant fold_start{std::chrono::hours{24 * 365 * 50}};

/// Events of V1; `at` is their own timestamp, counted from fold_start.
Event v1_event(std::string id, Micros at, Body body);
Event user_says(std::string id, Micros at);
Event agent_acts(std::string id, Micros at);
Event agent_says(std::string id, Micros at, std::string text);
Event agent_finishes(std::string id, Micros at, std::string text);
Event status(std::string id, Micros at, std::string status);
Event error_detail(std::string id, Micros at, std::string code, std::string detail);
/// Of a goal of at most five rounds; it goes on while `outcome` is "running".
Event goal(std::string id, Micros at, std::string outcome, std::int64_t rounds);

/// Events of V0. Their own timestamps run backwards, because V0 uses them for nothing but display.
Event v0_event(std::int64_t id, Body body);
Event v0_user_says(std::int64_t id);
Event v0_agent_acts(std::int64_t id);
Event v0_agent_says(std::int64_t id, std::string text);
Event v0_agent_finishes(std::int64_t id, std::string text);
Event v0_state(std::int64_t id, std::string state, std::string reason = "");

/// "u1 finished by f1 \"Done.\"", an error's reason in brackets.
std::string told(const TurnEnd& ended);
/// The turns joined by "; ", or "-".
std::string told(const std::vector<TurnEnd>& ended);
/// "none", "open u1 \"words\"", "candidate u1 due=+2s", …; times count from fold_start.
std::string told(const TurnState& turn_state);

/// A conversation under way. Every event has the same record time until time is let pass.
class FoldRun {
  public:
    explicit FoldRun(FoldRules rules = {}) : rules_(std::move(rules)) {}

    /// Applies the events in this order.
    FoldRun& read(const std::vector<Event>& events);
    /// The following records are this much later; no timer is stepped.
    FoldRun& after(Micros time);
    /// Steps the timers at the present record time.
    FoldRun& ticks();
    /// Lets the settle time pass and steps the timers.
    FoldRun& settles() { return after(rules_.settle).ticks(); }

    const Conversation& conversation() const { return conversation_; }
    const std::vector<TurnEnd>& ended() const { return ended_; }
    /// What became of the last event read.
    Applied applied() const { return applied_; }
    std::string turns() const { return told(ended_); }
    /// "notice:p1 paused of u1", "notice:w1 waiting_for_confirmation of u1: ls", joined by "; ", or "-".
    std::string notices() const;
    std::string turn_state() const { return told(conversation_.turn_state); }

  private:
    void take(Folded folded);

    FoldRules rules_;
    Conversation conversation_;
    std::vector<TurnEnd> ended_;
    std::vector<Notice> notices_;
    Applied applied_ = Applied::applied;
    Instant now_ = fold_start;
};

/// A turn as a V1 server tells it, its `finished` read but not yet counted.
FoldRun finished_once();
/// The same turn, counted.
FoldRun counted_once();

}  // namespace epilogue
