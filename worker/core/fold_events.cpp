// What each kind of event does to a conversation (contract §4).
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/mutant.h"
#include "base/redacted.h"
#include "schemas/instruction.h"
#include "worker/core/fold_step.h"

namespace epilogue {
namespace {

bool starts_with_stuck(std::string_view reason) {
    return reason.starts_with("AgentStuckInLoopError");
}

Reason reason_of(std::string_view code, std::string_view detail, std::string_view kind = {}) {
    constexpr std::size_t max_kind_bytes = 100;
    return {redacted_prefix(code, max_message_bytes), redacted_prefix(detail, max_message_bytes),
            redacted_prefix(kind, max_kind_bytes)};
}

/// Our own instruction was read, and no end of the agent's since: nothing opens or ends a turn, or adds words
/// to one, but another user message.
bool is_instructed(const Conversation& conversation) {
    return conversation.status == instructed_status;
}

/// A message that joins a turn from elsewhere makes it one of several origins.
void join(Turn& turn, const std::string& origin) {
    if (turn.origin != origin) turn.origin.clear();
}

/// What a status says of a turn that waits for a person, in either generation.
std::optional<Verdict> notice_of(std::string_view status) {
    if (status == "paused") return Verdict::paused;
    if (status == "waiting_for_confirmation" || status == "awaiting_user_confirmation")
        return Verdict::waiting_for_confirmation;
    return std::nullopt;
}

/// Whether a status is an end of the agent's, in either generation.
bool ends_instruction(std::string_view status) {
    constexpr std::array<std::string_view, 7> ends{
        "finished", "error", "stuck", "deleting", "awaiting_user_input", "rejected", "stopped"};
    return std::ranges::find(ends, status) != ends.end();
}

}  // namespace

void FoldStep::on(const UserMessage& message) {
    if (is_told_late(message.origin)) return;
    if (is_instructed(conversation_)) conversation_.status = "idle";
    if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
        count(*candidate);
    else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
        count(*awaiting);
    if (auto* joined = std::get_if<Open>(&conversation_.turn_state)) {
        if (!claim_opening(joined->turn, message.origin)) join(joined->turn, message.origin);
        return;
    }
    open(TurnKey(event_->id), time_, message.origin);
}

bool FoldStep::is_before(const std::optional<Instant>& first_event) const {
    return !by_seq_ && first_event && time_ && *time_ <= *first_event;
}

bool FoldStep::is_told_late(const std::string& origin) {
    if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
        return claim_opening(candidate->turn, origin);
    if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
        return claim_opening(awaiting->turn, origin);
    const bool has_ended = std::holds_alternative<Ended>(conversation_.turn_state) && conversation_.last;
    return has_ended && is_before(conversation_.last->first_at);
}

bool FoldStep::claim_opening(Turn& turn, const std::string& origin) const {
    if (!is_before(turn.first_at)) return false;
    if (turn.opened_at)
        join(turn, origin);
    else
        turn.origin = origin;
    if (turn.opened_at && *turn.opened_at <= *time_) return true;
    turn.key = TurnKey(event_->id);
    turn.opened_at = time_;
    return true;
}

bool FoldStep::may_be_early() const {
    return !is_in_order() && time_ && is_newer(time_, conversation_.newest_status) &&
           !is_instructed(conversation_);
}

bool FoldStep::keep_early(const StatusChange& change) {
    const bool is_end = change.status == "finished" || change.status == "error" || change.status == "stuck";
    if (!is_end || !may_be_early()) return false;
    const auto* ended = std::get_if<Ended>(&conversation_.turn_state);
    const bool is_closed = ended != nullptr && !ended->by_timeout;
    const bool is_behind = std::holds_alternative<Candidate>(conversation_.turn_state);
    if (!is_closed && !(is_behind && change.status == "finished")) return false;
    conversation_.status = change.status;
    conversation_.agent_since_status = false;
    conversation_.early_end = EarlyEnd{change.status, event_->id, *time_, std::nullopt};
    return true;
}

void FoldStep::keep_early(const AgentMessage& message) {
    if (!may_be_early()) return;
    const auto& known = conversation_.early_words;
    if (!known || is_newer(time_, known->at)) conversation_.early_words = word_of(message);
}

void FoldStep::on(const AgentAction&) {
    agent_acts();
}

void FoldStep::on(const AgentMessage& message) {
    agent_acts();
    Turn* turn = open_turn();
    if (!turn) return is_v0() ? note_unopened(message) : keep_early(message);
    const bool of_this_turn = is_in_order() || !time_ || !turn->opened_at || *time_ >= *turn->opened_at;
    const bool is_newer = is_in_order() || !turn->final_message || !turn->final_message->at || !time_ ||
                          *time_ >= *turn->final_message->at;
    if (of_this_turn && is_newer) turn->final_message = word_of(message);
}

FinalMessage FoldStep::word_of(const AgentMessage& message) const {
    return {message.kind, redacted_words(message.text, max_message_bytes), time_};
}

void FoldStep::on(const ErrorDetail& detail) {
    const Reason reason = reason_of(detail.code, detail.detail, detail.kind);
    if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state)) {
        awaiting->turn.reason = reason;
        count(*awaiting);
    } else if (Turn* turn = open_turn(); turn && newer_or_equal_to_opening(*turn)) {
        turn->reason = reason;
    } else if (conversation_.early_end && conversation_.early_end->status == "error") {
        conversation_.early_end->reason = reason;
    }
}

void FoldStep::on(const GoalUpdate& goal) {
    GoalLoop& loop = conversation_.goal.emplace(conversation_.goal.value_or(GoalLoop{}));
    if (!is_in_order() && !is_newer(time_, loop.at)) return;
    loop = {goal.active, time_};
    if (is_instructed(conversation_)) return;
    if (!goal.active) return end_with(goal);
    // Before its first round an earlier turn may have ended, which the goal's own message counts.
    if (goal.rounds > 0) revoke_older();
}

void FoldStep::on(const StopHookVerdict& verdict) {
    Candidate* candidate = candidate_before_event();
    if (candidate == nullptr) return;
    if (verdict.is_denied) return revoke(*candidate);
    // All of a server's stop hooks speak at once: one that denies comes right behind.
    candidate->awaits_hook = false;
    candidate->due = std::min(candidate->due, at_ + rules_.settle);
}

void FoldStep::on(const RunOver& over) {
    Candidate* candidate = candidate_before_event();
    if (candidate != nullptr && over.status == "finished" && !mutant(Mutant::run_over_ignored))
        count(*candidate);
}

void FoldStep::on(const Activity&) {}

void FoldStep::note_stop_hook(bool has_one) {
    const bool is_news = has_one && !conversation_.has_stop_hook;
    conversation_.has_stop_hook = has_one;
    auto* candidate = std::get_if<Candidate>(&conversation_.turn_state);
    if (!is_news || candidate == nullptr || std::holds_alternative<StopHookVerdict>(event_->body)) return;
    candidate->awaits_hook = true;
    candidate->due += rules_.hook_wait - rules_.settle;
}

void FoldStep::on(const StatusChange& change) {
    if (keep_early(change)) return;
    const bool newest = is_newest();
    const bool stale = is_stale(change);
    raise(conversation_.newest);
    raise(conversation_.newest_status);
    if (stale) return;
    if (change.status == instructed_status) return instruct();
    if (is_instructed(conversation_) && !mutant(Mutant::instructed_end_counted)) {
        if (ends_instruction(change.status)) conversation_.status = change.status;
        return;
    }
    is_first_status_ = conversation_.status.empty();
    if (is_v0() && change.status == "awaiting_user_input") open_unopened();
    const Turn* turn = current_turn(conversation_);
    const bool repeated = change.status == conversation_.status && (!turn || turn->status_seen);
    conversation_.status = change.status;
    conversation_.agent_since_status = false;
    if (repeated) return;
    reopen_after_timeout();
    if (change.status == "running") {
        forget_notices();
        if (newest) resume();
    } else if (is_v0()) {
        on_v0_state(change);
    } else {
        on_v1_status(change.status);
    }
    if (Turn* open = open_turn()) open->status_seen = true;
    notice(change.status);
}

void FoldStep::notice(std::string_view status) {
    const auto verdict = notice_of(status);
    auto* open = std::get_if<Open>(&conversation_.turn_state);
    if (!verdict || open == nullptr) return;
    Turn& turn = open->turn;
    if (std::ranges::find(turn.noticed, *verdict) != turn.noticed.end()) return;
    turn.noticed.push_back(*verdict);
    Notice told{TurnKey("notice:" + event_->id), *verdict, turn.key, turn.origin, {}};
    // With work behind it a step has been carried out: what waits has not been read yet.
    const Digest& digest = turn.digest;
    const bool waits = !digest.steps.empty() && digest.steps.back().order >= digest.newest;
    if (*verdict == Verdict::waiting_for_confirmation && waits) told.action = digest.steps.back().text;
    notices_.push_back(std::move(told));
}

void FoldStep::forget_notices() {
    if (Turn* turn = open_turn()) turn->noticed.clear();
}

void FoldStep::instruct() {
    // Only a turn that was counted is asked about: an end that stands has counted for the worker that asked.
    if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
        count(*candidate);
    else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
        count(*awaiting);
    // A person was faster: the open turn is theirs, and ends as it would have ended without our message.
    if (std::holds_alternative<Open>(conversation_.turn_state)) return;
    // What came before it may be the answer, and its end.
    conversation_.early_words.reset();
    const auto early = std::exchange(conversation_.early_end, std::nullopt);
    const bool is_over = early && time_ && early->at >= *time_;
    conversation_.status = is_over ? early->status : instructed_status;
    conversation_.agent_since_status = false;
}

void FoldStep::on_v0_state(const StatusChange& change) {
    const std::string& state = change.status;
    if (state == "error") {
        const bool stuck = starts_with_stuck(change.reason);
        if (Turn* turn = turn_or_start()) {
            if (!stuck && !change.reason.empty()) turn->reason = reason_of(change.reason, "");
            end(stuck ? Verdict::stuck : Verdict::error, std::move(*turn), event_->id);
        }
    } else if (state == "finished" || state == "rejected") {
        if (Turn* turn = turn_or_start())
            end(state == "finished" ? Verdict::finished : Verdict::rejected, std::move(*turn), event_->id);
    } else if (state == "stopped") {
        stop();
    } else if (Turn* turn = open_turn()) {
        // Opening a session emits awaiting_user_input too: it counts only after the agent did something.
        if (state == "awaiting_user_input" && turn->agent_acted)
            end(Verdict::awaiting_user_input, std::move(*turn), event_->id);
    }
}

void FoldStep::on_v1_status(const std::string& status) {
    if (status == "deleting") {
        if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
            count(*candidate);
        else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
            count(*awaiting);
        else
            stop();
    } else if (goal_goes_on() && (status == "finished" || status == "stuck")) {
        turn_or_start();
    } else if (status == "finished") {
        if (std::holds_alternative<Candidate>(conversation_.turn_state)) return;
        if (Turn* turn = turn_or_start()) stand(candidate_of(std::move(*turn)));
    } else if (status == "stuck") {
        if (Turn* turn = turn_or_start()) end(Verdict::stuck, std::move(*turn), event_->id);
    } else if (status == "error") {
        Turn* turn = turn_or_start();
        if (!turn) return;
        AwaitingDetail awaiting{std::move(*turn), event_->id, at_ + rules_.settle};
        const bool known = awaiting.turn.reason.has_value();
        if (known)
            count(awaiting);
        else
            stand(std::move(awaiting));
    }
}

void FoldStep::raise(std::optional<Instant>& mark) const {
    if (time_ && (by_seq_ || !mark || *time_ > *mark)) mark = time_;
}

void FoldStep::agent_acts() {
    const bool newest = is_newest();
    raise(conversation_.newest);
    if (is_instructed(conversation_)) return;
    conversation_.agent_since_status = true;
    if (newest) reopen_after_timeout();
    if (newest && std::holds_alternative<NoTurn>(conversation_.turn_state)) open_unseen();
    if (newest) revoke_older();
    if (newest) forget_notices();
    if (Turn* turn = open_turn()) turn->agent_acted = true;
}

}  // namespace epilogue
