#define BOOST_TEST_MODULE fold_golden
#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include "tests/support/golden.h"
#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

/// A state, and the events that lead to it; the newest last.
struct State {
    std::string name;
    std::vector<Event> events;
    bool settled = false;  ///< and its timer has fired
};

/// One column of the table: what comes next, and when (record time after the state's).
struct Next {
    std::string name;
    Event event;
    Micros record = 1s;
};

// V1. The user spoke at 1 s, the newest event of a state is at most at 5 s.
constexpr Micros newer = 10s;
constexpr Micros older = 2500ms;          // than the state's newest status, not than the turn's opening
constexpr Micros before_opening = 500ms;  // but not late
constexpr Micros long_ago = -60s;         // late, once a status was read

std::vector<State> v1_states() {
    const std::vector<Event> open{user_says("u", 1s)};
    const std::vector<Event> running{user_says("u", 1s), status("r", 2s, "running")};
    const auto with = [](std::vector<Event> events, const std::vector<Event>& more) {
        events.insert(events.end(), more.begin(), more.end());
        return events;
    };
    const auto finish = agent_finishes("a", 3s, "Done.");
    const auto message = agent_says("a", 3s, "Which?");
    const auto finished = status("f", 4s, "finished");
    return {
        {"none", {}},
        {"none, idle", {status("i", 4s, "idle")}},
        {"open", open},
        {"open, running", running},
        {"open without its opening", {status("r", 2s, "running")}},
        {"open after a message", with(running, {message})},
        {"open after a finish", with(running, {finish})},
        {"open, revoked", with(running, {finish, finished, agent_acts("b", 5s)})},
        {"open, paused", with(running, {status("p", 4s, "paused")})},
        {"open, error detail read", with(running, {error_detail("d", 3s, "Code", "why")})},
        {"candidate", with(running, {agent_acts("a", 3s), finished})},
        {"candidate after a message", with(running, {message, finished})},
        {"candidate after a finish", with(running, {finish, finished})},
        {"candidate, idle", with(running, {finish, finished, status("i", 5s, "idle")})},
        {"candidate older than running", {user_says("u", 1s), status("r", 5s, "running"), finish, finished}},
        {"awaiting_detail", with(running, {finish, status("e", 4s, "error")})},
        {"ended finished", with(running, {finish, finished}), true},
        {"ended finished, idle", with(running, {finish, finished, status("i", 5s, "idle")}), true},
        {"ended error", with(running, {status("e", 4s, "error")}), true},
        {"ended stuck", with(running, {status("s", 4s, "stuck")})},
        {"ended stopped", with(running, {status("x", 4s, "deleting")})},
        {"ended stuck older than running",
         {user_says("u", 1s), status("r", 5s, "running"), status("s", 4s, "stuck")}},
    };
}

std::vector<Next> v1_events() {
    std::vector<Next> events;
    const auto add = [&](std::string name, Event event, Micros record = 1s) {
        events.push_back({std::move(name), std::move(event), record});
    };
    add("user message", user_says("n", newer));
    add("user message older", user_says("n", older));
    add("user message late", user_says("n", long_ago));
    add("user message at due", user_says("n", newer), 2s);
    add("agent action newer", agent_acts("n", newer));
    add("agent action older", agent_acts("n", older));
    add("agent action late", agent_acts("n", long_ago));
    add("agent action newer, at due", agent_acts("n", newer), 2s);
    add("agent message newer", agent_says("n", newer, "New?"));
    add("agent message older", agent_says("n", older, "Old?"));
    add("agent message before the opening", agent_says("n", before_opening, "Before?"));
    add("agent message late", agent_says("n", long_ago, "Late?"));
    add("finish newer", agent_finishes("n", newer, "New."));
    add("finish older", agent_finishes("n", older, "Old."));
    add("finish before the opening", agent_finishes("n", before_opening, "Before."));
    add("finish late", agent_finishes("n", long_ago, "Late."));
    for (const char* value : {"running", "finished", "error", "stuck", "deleting"}) {
        const std::string name = std::string("=") + value;
        add(name + " newer", status("n", newer, value));
        add(name + " older", status("n", older, value));
        add(name + " late", status("n", long_ago, value));
        add(name + " newer, at due", status("n", newer, value), 2s);
    }
    for (const char* value : {"idle", "paused", "waiting_for_confirmation", "unheard_of"})
        add(std::string("=") + value, status("n", newer, value));
    add("error detail", error_detail("n", newer, "New", "because"));
    add("error detail before the opening", error_detail("n", before_opening, "Before", "because"));
    add("error detail late", error_detail("n", long_ago, "Late", "because"));
    add("error detail at due", error_detail("n", newer, "New", "because"), 2s);
    add("activity", v1_event("n", newer, Activity{}));
    add("activity at due", v1_event("n", newer, Activity{}), 2s);
    return events;
}

std::vector<State> v0_states() {
    const std::vector<Event> running{v0_user_says(2), v0_state(3, "running")};
    const auto with = [&](const std::vector<Event>& more) {
        std::vector<Event> events = running;
        events.insert(events.end(), more.begin(), more.end());
        return events;
    };
    return {
        {"none", {}},
        {"none, loading", {v0_state(1, "loading")}},
        {"open", {v0_user_says(2)}},
        {"open, running", running},
        {"open without its opening", {v0_state(3, "running")}},
        {"open after an action", with({v0_agent_acts(4)})},
        {"open after a message", with({v0_agent_says(4, "Which?")})},
        {"open after a finish", with({v0_agent_finishes(4, "Done.")})},
        {"open, rate_limited", with({v0_agent_acts(4), v0_state(5, "rate_limited")})},
        {"ended finished", with({v0_agent_finishes(4, "Done."), v0_state(5, "finished")})},
        {"ended awaiting_user_input", with({v0_agent_says(4, "Which?"), v0_state(5, "awaiting_user_input")})},
        {"ended error", with({v0_state(5, "error", "why")})},
        {"ended stuck", with({v0_state(5, "error", "AgentStuckInLoopError: loop")})},
        {"ended rejected", with({v0_state(5, "rejected")})},
        {"ended stopped", with({v0_state(5, "stopped")})},
    };
}

std::vector<Next> v0_events() {
    std::vector<Next> events;
    for (const char* state : {"running", "finished", "awaiting_user_input", "rejected", "stopped",
                              "rate_limited", "paused", "loading", "awaiting_user_confirmation"})
        events.push_back({std::string("=") + state, v0_state(9, state)});
    events.push_back({"=error with a reason", v0_state(9, "error", "new")});
    events.push_back({"=error because stuck", v0_state(9, "error", "AgentStuckInLoopError")});
    events.push_back({"user message", v0_user_says(9)});
    events.push_back({"agent action", v0_agent_acts(9)});
    events.push_back({"agent message", v0_agent_says(9, "New?")});
    events.push_back({"finish", v0_agent_finishes(9, "New.")});
    events.push_back({"activity", v0_event(9, Activity{})});
    events.push_back({"user message of id 0", v0_user_says(0)});
    events.push_back({"=finished of id 0", v0_state(0, "finished")});
    return events;
}

FoldRun run_of(const State& state) {
    FoldRun fold_run;
    fold_run.read(state.events);
    return state.settled ? fold_run.settles() : fold_run;
}

/// One cell: what the step changed.
std::string cell(const State& state, const std::string& event, const FoldRun& before, const FoldRun& after) {
    std::string changes = before.turn_state() == after.turn_state() ? "same" : after.turn_state();
    if (before.conversation().status != after.conversation().status)
        changes += ", status " + after.conversation().status;
    if (after.applied() != Applied::applied) changes += ", " + std::string(name_of(after.applied()));
    const auto counted = before.ended().size();
    const std::vector<TurnEnd> ended(after.ended().begin() + static_cast<std::ptrdiff_t>(counted),
                                     after.ended().end());
    return fmt::format("{} × {} -> {}; ended: {}\n", state.name, event, changes, told(ended));
}

std::string table(const State& state, const std::vector<Next>& events) {
    const FoldRun before = run_of(state);
    std::string text = fmt::format("\n# {}: {}\n", state.name, before.turn_state());
    const auto add = [&](const std::string& name, const std::vector<Event>& read, Micros record) {
        FoldRun after = before;
        if (state.settled) record += 2s;
        after.after(record).read(read);
        if (read.empty()) after.ticks();
        text += cell(state, name, before, after);
    };
    for (const Next& next : events) add(next.name, {next.event}, next.record);
    if (!state.events.empty()) {
        add("repeat", {state.events.back()}, 1s);
        add("repeat at due", {state.events.back()}, 2s);
        if (const auto* change = std::get_if<StatusChange>(&state.events.back().body)) {
            Event again = state.events.back();
            again.id = "9";
            again.number = again.schema == Schema::v0 ? 9 : 0;
            *again.timestamp += 3s;
            add("=" + change->status + " again, another id", {again}, 1s);
        }
    }
    add("tick before due", {}, 2s - 1us);
    add("tick at due", {}, 2s);
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_state_meets_every_event_as_the_golden_table_says) {
    std::string text =
        "Every state × event of the fold: \"state × event -> what it stands in after it; ended: turns "
        "counted\".\n"
        "Record times: the state's events at +0s, the next event at +1s, \"at due\" +2s (settle is 2 s), so "
        "that a\n"
        "timer due=+2s is the state's own and due=+3s a new one. A turn is told as: key, newest word, "
        "reason.\n"
        "\"status\" tells of a newest raw status that changed.\n\n"
        "Own timestamps of V1: user message u at 1s, =running r at 2s, the agent at 3s, its status at 4s, "
        "what follows\n"
        "at 5s. \"newer\" (and no remark) is 10s, \"older\" 2.5s, \"before the opening\" 0.5s, \"late\" "
        "-60s.\n"
        "\n## V1\n";
    for (const State& state : v1_states()) text += table(state, v1_events());
    text += "\n## V0 (ids order, times do not; the next event has id 9)\n";
    for (const State& state : v0_states()) text += table(state, v0_events());
    BOOST_TEST(difference_from_golden("fold", text) == "");
}
