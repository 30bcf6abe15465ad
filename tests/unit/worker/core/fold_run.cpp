#include "tests/unit/worker/core/fold_run.h"

#include <utility>

#include <fmt/format.h>

namespace epilogue {
namespace {

std::string told(const Turn& turn) {
    std::string text = turn.key;
    if (turn.final_message)
        text +=
            fmt::format(" {} \"{}\"", turn.final_message->kind == MessageKind::finish ? "finish" : "message",
                        turn.final_message->text);
    if (turn.reason) text += fmt::format(" reason {}", turn.reason->code);
    return text;
}

std::string told(Instant due) {
    const auto micros = (due - fold_start).count();
    if (micros % 1000000 == 0) return fmt::format("due=+{}s", micros / 1000000);
    return fmt::format("due=+{}us", micros);
}

struct Teller {
    std::string operator()(const NoTurn&) const { return "none"; }
    std::string operator()(const Open& open) const { return "open " + told(open.turn); }
    std::string operator()(const Candidate& candidate) const {
        return fmt::format("candidate {} {}", told(candidate.turn), told(candidate.due));
    }
    std::string operator()(const AwaitingDetail& awaiting) const {
        return fmt::format("awaiting_detail {} {}", told(awaiting.turn), told(awaiting.due));
    }
    std::string operator()(const Ended&) const { return "ended"; }
};

}  // namespace

Event v1_event(std::string id, Micros at, Body body) {
    Event event;
    event.schema = Schema::v1;
    event.id = std::move(id);
    event.timestamp = fold_start + at;
    event.body = std::move(body);
    return event;
}

Event user_says(std::string id, Micros at) {
    return v1_event(std::move(id), at, UserMessage{});
}

Event agent_acts(std::string id, Micros at) {
    return v1_event(std::move(id), at, AgentAction{});
}

Event agent_says(std::string id, Micros at, std::string text) {
    return v1_event(std::move(id), at, AgentMessage{MessageKind::message, std::move(text)});
}

Event agent_finishes(std::string id, Micros at, std::string text) {
    return v1_event(std::move(id), at, AgentMessage{MessageKind::finish, std::move(text)});
}

Event status(std::string id, Micros at, std::string status) {
    return v1_event(std::move(id), at, StatusChange{std::move(status), ""});
}

Event error_detail(std::string id, Micros at, std::string code, std::string detail) {
    return v1_event(std::move(id), at, ErrorDetail{std::move(code), std::move(detail)});
}

Event goal(std::string id, Micros at, std::string outcome, std::int64_t rounds) {
    const bool active = outcome == "running";
    return v1_event(std::move(id), at, GoalUpdate{active, std::move(outcome), rounds, 5});
}

Event v0_event(std::int64_t id, Body body) {
    Event event;
    event.schema = Schema::v0;
    event.id = std::to_string(id);
    event.number = id;
    event.timestamp = fold_start - std::chrono::seconds{id};
    event.body = std::move(body);
    return event;
}

Event v0_user_says(std::int64_t id) {
    return v0_event(id, UserMessage{});
}

Event v0_agent_acts(std::int64_t id) {
    return v0_event(id, AgentAction{});
}

Event v0_agent_says(std::int64_t id, std::string text) {
    return v0_event(id, AgentMessage{MessageKind::message, std::move(text)});
}

Event v0_agent_finishes(std::int64_t id, std::string text) {
    return v0_event(id, AgentMessage{MessageKind::finish, std::move(text)});
}

Event v0_state(std::int64_t id, std::string state, std::string reason) {
    return v0_event(id, StatusChange{std::move(state), std::move(reason)});
}

std::string told(const TurnEnd& ended) {
    std::string text = fmt::format("{} {} by {}", ended.turn_key, name_of(ended.verdict), ended.status_event);
    if (ended.final_message) text += fmt::format(" \"{}\"", *ended.final_message);
    if (ended.reason) text += fmt::format(" [{}: {}]", ended.reason->code, ended.reason->detail);
    return text;
}

std::string told(const std::vector<TurnEnd>& ended) {
    std::string text;
    for (const TurnEnd& turn : ended) text += (text.empty() ? "" : "; ") + told(turn);
    return text.empty() ? "-" : text;
}

std::string told(const TurnState& turn_state) {
    return std::visit(Teller{}, turn_state);
}

std::string FoldRun::notices() const {
    std::string text;
    for (const Notice& notice : notices_) {
        text += fmt::format("{}{} {} of {}", text.empty() ? "" : "; ", notice.key, name_of(notice.verdict),
                            notice.turn_key);
        if (!notice.action.empty()) text += ": " + notice.action;
    }
    return text.empty() ? "-" : text;
}

FoldRun& FoldRun::read(const std::vector<Event>& events) {
    for (const Event& event : events) take(fold(std::move(conversation_), event, now_, rules_));
    return *this;
}

FoldRun& FoldRun::after(Micros time) {
    now_ += time;
    return *this;
}

FoldRun& FoldRun::ticks() {
    take(tick(std::move(conversation_), now_));
    return *this;
}

void FoldRun::take(Folded folded) {
    conversation_ = std::move(folded.conversation);
    applied_ = folded.applied;
    for (TurnEnd& turn : folded.ended) ended_.push_back(std::move(turn));
    for (Notice& notice : folded.notices) notices_.push_back(std::move(notice));
}

FoldRun finished_once() {
    using namespace std::chrono_literals;
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_finishes("a1", 3s, "Done."),
                   status("f1", 4s, "finished")});
    return fold_run;
}

FoldRun counted_once() {
    FoldRun fold_run = finished_once();
    return fold_run.settles();
}

}  // namespace epilogue
