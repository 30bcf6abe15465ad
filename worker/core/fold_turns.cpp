// How a conversation moves from one state to another: turns are opened, revoked and counted (contract §4).
#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "worker/core/fold_step.h"

namespace epilogue {
namespace {

/// How a turn ended that came to its end: with a message the agent asks the user.
Verdict verdict_by_words(const Turn& turn) {
    const bool asks = turn.final_message && turn.final_message->kind == MessageKind::message;
    return asks ? Verdict::awaiting_user_input : Verdict::finished;
}

}  // namespace

void FoldStep::resume() {
    if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state)) count(*awaiting);
    if (std::holds_alternative<NoTurn>(conversation_.turn_state))
        open_unseen();
    else if (std::holds_alternative<Ended>(conversation_.turn_state))
        open(TurnKey(event_->id), time_);
    else
        revoke_older();
}

void FoldStep::stop() {
    if (Turn* turn = is_first_status_ ? turn_or_start() : open_turn())
        end(Verdict::stopped, std::move(*turn), event_->id);
}

void FoldStep::note_unopened(const AgentMessage& message) {
    auto* ended = std::get_if<Ended>(&conversation_.turn_state);
    const bool asked = conversation_.last && conversation_.last->verdict == Verdict::awaiting_user_input;
    if (!is_v0() || ended == nullptr || !asked || mutant(Mutant::lost_running_believed)) return;
    if (!ended->unopened) ended->unopened = UnopenedTurn{TurnKey(event_->id), at_, {}};
    ended->unopened->final_message = word_of(message);
}

void FoldStep::open_unopened() {
    const auto* ended = std::get_if<Ended>(&conversation_.turn_state);
    if (ended == nullptr || !ended->unopened) return;
    Turn turn;
    turn.key = ended->unopened->key;
    turn.opened_on = ended->unopened->opened_on;
    turn.agent_acted = true;
    turn.final_message = ended->unopened->final_message;
    stand(Open{std::move(turn)});
}

void FoldStep::revoke(Candidate& candidate) {
    Turn turn = std::move(candidate.turn);
    turn.status_seen = false;
    stand(Open{std::move(turn)});
}

void FoldStep::revoke_older() {
    auto* candidate = std::get_if<Candidate>(&conversation_.turn_state);
    if (candidate != nullptr && (by_seq_ || is_newer(time_, candidate->at))) revoke(*candidate);
}

void FoldStep::end_with(const GoalUpdate& goal) {
    if (std::holds_alternative<AwaitingDetail>(conversation_.turn_state)) return;  // counts by itself
    Turn* turn = turn_or_start();
    if (turn == nullptr) return;
    const bool is_reached = goal.outcome == "complete";
    if (!is_reached && rules_.keep_digest)
        turn->digest.goal = Digest::Goal{goal.outcome == "capped", goal.rounds, goal.max_rounds};
    const Verdict verdict = is_reached ? Verdict::finished : verdict_by_words(*turn);
    end(verdict, std::move(*turn), event_->id);
}

void FoldStep::open(TurnKey key, std::optional<Instant> opened_at, std::string origin) {
    Turn turn;
    turn.key = std::move(key);
    turn.origin = std::move(origin);
    turn.opened_on = at_;
    turn.opened_at = opened_at;
    // Of the first turn all that was told is its own; of one that was not seen from its beginning nothing is.
    const bool is_first = !conversation_.last && turn.key != TurnKey("start");
    if (rules_.keep_digest) turn.digest.figures.usage_before = is_first ? UsageTold{} : conversation_.usage;
    stand(Open{std::move(turn)});
    apply_early();
}

void FoldStep::apply_early() {
    const auto words = std::exchange(conversation_.early_words, std::nullopt);
    auto early = std::exchange(conversation_.early_end, std::nullopt);
    Turn& turn = *open_turn();
    if (is_in_order() || !turn.opened_at) return;
    if (words && *words->at >= *turn.opened_at) turn.final_message = words;
    if (!early || early->at < *turn.opened_at) return;
    // Whatever else is older than that end belongs to its turn, too.
    turn.first_at = early->at;
    turn.status_seen = true;
    conversation_.status = early->status;
    conversation_.newest = std::max(conversation_.newest.value_or(early->at), early->at);
    conversation_.newest_status = early->at;
    Turn ending = std::move(turn);
    if (early->status == "stuck") return end(Verdict::stuck, std::move(ending), early->status_event);
    if (early->status == "finished") {
        Candidate candidate = candidate_of(std::move(ending));
        candidate.status_event = early->status_event;
        candidate.at = early->at;
        return stand(std::move(candidate));
    }
    ending.reason = early->reason;
    AwaitingDetail awaiting{std::move(ending), early->status_event, at_ + rules_.settle};
    stand(std::move(awaiting));
}

void FoldStep::open_unseen() {
    open(TurnKey("start"), std::nullopt);
    open_turn()->first_at = time_;
}

void FoldStep::stand(TurnState turn_state) {
    conversation_.turn_state = std::move(turn_state);
}

Candidate FoldStep::candidate_of(Turn turn) const {
    const bool waits = conversation_.has_stop_hook && !mutant(Mutant::stop_hook_not_awaited);
    const Instant due = at_ + (waits ? rules_.hook_wait : rules_.settle);
    return {std::move(turn), event_->id, time_, mutant(Mutant::settle_ignored) ? at_ : due, waits};
}

void FoldStep::count(Candidate& candidate) {
    end(verdict_by_words(candidate.turn), std::move(candidate.turn), std::move(candidate.status_event));
}

void FoldStep::count(AwaitingDetail& awaiting) {
    end(Verdict::error, std::move(awaiting.turn), std::move(awaiting.status_event));
}

void FoldStep::close_figures(Turn& turn) const {
    Digest::Figures& figures = turn.digest.figures;
    const auto& until = conversation_.newest_status;
    if (turn.opened_at && until && *until >= *turn.opened_at)
        figures.seconds = std::chrono::duration_cast<std::chrono::seconds>(*until - *turn.opened_at).count();
    if (!figures.usage_before || !conversation_.usage) return;
    const UsageTold& before = *figures.usage_before;
    const UsageTold& now = *conversation_.usage;
    figures.usage = UsageTold{now.cost - before.cost, now.tokens_in - before.tokens_in,
                              now.tokens_out - before.tokens_out};
}

void FoldStep::end(Verdict verdict, Turn turn, std::string status_event) {
    if (rules_.keep_digest) close_figures(turn);
    TurnEnd ended{std::move(turn.key), verdict,        std::move(status_event), std::nullopt,
                  std::nullopt,        turn.opened_on, std::move(turn.digest)};
    const bool speaks = verdict == Verdict::finished || verdict == Verdict::awaiting_user_input;
    if (speaks && turn.final_message) ended.final_message = std::move(turn.final_message->text);
    if (verdict == Verdict::error) ended.reason = std::move(turn.reason);
    if (verdict == Verdict::timeout)
        ended.may_lie_in_gap = was_last_heard_before_gap(conversation_, rules_.inactivity);
    ended.first_at = turn.first_at;
    ended.origin = std::move(turn.origin);
    conversation_.last = ended;
    ended_.push_back(std::move(ended));
    stand(Ended{verdict == Verdict::timeout});
}

void FoldStep::reopen_after_timeout() {
    const auto* ended = std::get_if<Ended>(&conversation_.turn_state);
    if (ended && ended->by_timeout) open(TurnKey(event_->id), time_);
}

void FoldStep::end_inactivity(Instant now) {
    if (!would_time_out(conversation_, now, rules_.inactivity)) {
        conversation_ = epilogue::watch_inactivity(std::move(conversation_), rules_.inactivity);
    } else if (rules_.inactivity.may_fire) {
        Turn unread;
        unread.key = TurnKey("start");
        auto* open = std::get_if<Open>(&conversation_.turn_state);
        end(Verdict::timeout, open != nullptr ? std::move(open->turn) : std::move(unread), "");
    }
}

Turn* FoldStep::open_turn() {
    if (auto* open = std::get_if<Open>(&conversation_.turn_state)) return &open->turn;
    if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state)) return &candidate->turn;
    return nullptr;
}

Turn* FoldStep::turn_or_start() {
    if (std::holds_alternative<NoTurn>(conversation_.turn_state)) open_unseen();
    return open_turn();
}

bool FoldStep::goal_goes_on() const {
    return conversation_.goal && conversation_.goal->active && !mutant(Mutant::goal_round_counted);
}

Candidate* FoldStep::candidate_before_event() {
    auto* candidate = std::get_if<Candidate>(&conversation_.turn_state);
    const bool is_older =
        !by_seq_ && candidate != nullptr && candidate->at && time_ && *time_ < *candidate->at;
    return is_older ? nullptr : candidate;
}

bool FoldStep::newer_or_equal_to_opening(const Turn& turn) const {
    return is_in_order() || !turn.opened_at || !time_ || *time_ >= *turn.opened_at;
}

}  // namespace epilogue
