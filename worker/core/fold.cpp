#include "worker/core/fold.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_names.h"
#include "base/mutant.h"
#include "base/redacted.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr EnumNames<Applied, 3> applied_names{{"applied", "repeat", "late"}};
static_assert(applied_names.ends_with(Applied::late));

constexpr std::chrono::seconds late_by{30};

template <class T, class... Others>
constexpr bool is_any_of = (std::is_same_v<T, Others> || ...);

bool steers(const Event& event) {
    return std::visit(
        [](const auto& body) {
            return is_any_of<std::decay_t<decltype(body)>, UserMessage, AgentMessage, StatusChange,
                             ErrorDetail>;
        },
        event.body);
}

bool newer(const std::optional<Instant>& at, const std::optional<Instant>& than) {
    return !than || (at && *at > *than);
}

void raise(std::optional<Instant>& mark, const std::optional<Instant>& at) {
    if (at && (!mark || *at > *mark)) mark = at;
}

bool starts_with_stuck(std::string_view reason) {
    return reason.starts_with("AgentStuckInLoopError");
}

Reason reason_of(std::string_view code, std::string_view detail) {
    return {redacted_prefix(code, max_message_bytes), redacted_prefix(detail, max_message_bytes)};
}

/// One event, or one moment, applied. Members are the pieces of the result under construction.
class FoldStep {
  public:
    FoldStep(Conversation conversation, const FoldRules& rules)
        : conversation_(std::move(conversation)), rules_(rules) {}

    void fire_timer(Instant now) {
        const auto due = due_at(conversation_);
        if (!due || *due > now) return;
        if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
            count(*candidate);
        else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
            count(*awaiting);
        else if (auto* open = std::get_if<Open>(&conversation_.turn_state))
            end_inactivity(*open, now);
    }

    void apply(const Event& event, Instant at) {
        conversation_.last_event_at = at;
        event_ = &event;
        at_ = at;
        if (is_repeat())
            applied_ = Applied::repeat;
        else
            apply_new();
        conversation_ = epilogue::watch_inactivity(std::move(conversation_), rules_.inactivity);
    }

    Folded result() && { return {std::move(conversation_), std::move(ended_), applied_}; }

  private:
    void apply_new() {
        remember();
        if (is_late()) {
            applied_ = Applied::late;
        } else {
            std::visit([this](const auto& body) { on(body); }, event_->body);
        }
        if (Turn* turn = open_turn(); turn && rules_.keep_digest)
            for (const Work& work : event_->work) add(turn->digest, work);
    }

    // --- which events are looked at ---------------------------------------------------------------------

    bool is_v0() const { return event_->schema == Schema::v0; }

    bool is_repeat() const {
        if (is_v0()) return event_->number <= conversation_.highest_number;
        if (mutant(Mutant::repeat_counted)) return false;
        const auto& recent = conversation_.recent;
        return steers(*event_) && std::find(recent.begin(), recent.end(), event_->id) != recent.end();
    }

    void remember() {
        if (is_v0()) {
            conversation_.highest_number = event_->number;
        } else if (steers(*event_)) {
            conversation_.recent.push_back(event_->id);
            if (conversation_.recent.size() > max_recent_ids)
                conversation_.recent.erase(conversation_.recent.begin());
        }
    }

    bool is_late() const {
        return !is_v0() && could_steer(*event_) && event_->timestamp && conversation_.newest_status &&
               *event_->timestamp + late_by < *conversation_.newest_status;
    }

    /// Newer by its own timestamp than every status and agent event applied before (V0: by id, which
    /// is_repeat() has seen to).
    bool is_newest() const { return is_v0() || newer(event_->timestamp, conversation_.newest); }

    /// `running` that is older than what was read tells of what is over, unless a turn is open and no newer
    /// status was read.
    bool is_stale(const StatusChange& change) const {
        if (change.status != "running" || is_newest() || mutant(Mutant::stale_running_kept)) return false;
        const bool is_open = std::holds_alternative<Open>(conversation_.turn_state);
        return !is_open || !newer(event_->timestamp, conversation_.newest_status);
    }

    // --- what each kind of event does -------------------------------------------------------------------

    void on(const UserMessage&) {
        if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
            count(*candidate);
        else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
            count(*awaiting);
        if (auto* joined = std::get_if<Open>(&conversation_.turn_state))
            claim_opening(joined->turn);
        else
            open(TurnKey(event_->id), event_->timestamp);
    }

    /// A message that joins an open turn is its opening after all when the turn's own was not seen and the
    /// message is not newer than what was seen first: the source sent live events and old ones interleaved.
    void claim_opening(Turn& turn) const {
        const bool older = turn.first_at && event_->timestamp && *event_->timestamp <= *turn.first_at;
        if (!older) return;
        turn.key = TurnKey(event_->id);
        turn.opened_at = event_->timestamp;
        turn.first_at.reset();
    }

    void on(const AgentAction&) { agent_acts(); }

    void on(const AgentMessage& message) {
        agent_acts();
        Turn* turn = open_turn();
        if (!turn) return note_unopened(message);
        const bool of_this_turn =
            is_v0() || !event_->timestamp || !turn->opened_at || *event_->timestamp >= *turn->opened_at;
        const bool is_newer = is_v0() || !turn->final_message || !turn->final_message->at ||
                              !event_->timestamp || *event_->timestamp >= *turn->final_message->at;
        if (of_this_turn && is_newer) turn->final_message = word_of(message);
    }

    FinalMessage word_of(const AgentMessage& message) const {
        return {message.kind, redacted_words(message.text, max_message_bytes), event_->timestamp};
    }

    void on(const ErrorDetail& detail) {
        const Reason reason = reason_of(detail.code, detail.detail);
        if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state)) {
            awaiting->turn.reason = reason;
            count(*awaiting);
        } else if (Turn* turn = open_turn(); turn && newer_or_equal_to_opening(*turn)) {
            turn->reason = reason;
        }
    }

    void on(const Activity&) {}

    void on(const StatusChange& change) {
        const bool newest = is_newest();
        const bool stale = is_stale(change);
        raise(conversation_.newest, event_->timestamp);
        raise(conversation_.newest_status, event_->timestamp);
        if (stale) return;
        is_first_status_ = conversation_.status.empty();
        if (is_v0() && change.status == "awaiting_user_input") open_unopened();
        const Turn* turn = current_turn(conversation_);
        const bool repeated = change.status == conversation_.status && (!turn || turn->status_seen);
        conversation_.status = change.status;
        conversation_.agent_since_status = false;
        if (repeated) return;
        reopen_after_timeout();
        if (change.status == "running") {
            if (newest) resume();
        } else if (is_v0()) {
            on_v0_state(change);
        } else {
            on_v1_status(change.status);
        }
        if (Turn* open = open_turn()) open->status_seen = true;
    }

    void on_v0_state(const StatusChange& change) {
        const std::string& state = change.status;
        if (state == "error") {
            const bool stuck = starts_with_stuck(change.reason);
            if (Turn* turn = turn_or_start()) {
                if (!stuck && !change.reason.empty()) turn->reason = reason_of(change.reason, "");
                end(stuck ? Verdict::stuck : Verdict::error, std::move(*turn), event_->id);
            }
        } else if (state == "finished" || state == "rejected") {
            if (Turn* turn = turn_or_start())
                end(state == "finished" ? Verdict::finished : Verdict::rejected, std::move(*turn),
                    event_->id);
        } else if (state == "stopped") {
            stop();
        } else if (Turn* turn = open_turn()) {
            // Opening a session emits awaiting_user_input too: it counts only after the agent did something.
            if (state == "awaiting_user_input" && turn->agent_acted)
                end(Verdict::awaiting_user_input, std::move(*turn), event_->id);
        }
    }

    void on_v1_status(const std::string& status) {
        if (status == "deleting") {
            if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
                count(*candidate);
            else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
                count(*awaiting);
            else
                stop();
        } else if (status == "finished") {
            if (std::holds_alternative<Candidate>(conversation_.turn_state)) return;
            if (Turn* turn = turn_or_start())
                stand(Candidate{std::move(*turn), event_->id, event_->timestamp,
                                mutant(Mutant::settle_ignored) ? at_ : at_ + rules_.settle});
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

    // --- moves ------------------------------------------------------------------------------------------

    /// An agent action or message: opens the turn whose opening was not seen, or revokes a candidate.
    void agent_acts() {
        const bool newest = is_newest();
        raise(conversation_.newest, event_->timestamp);
        conversation_.agent_since_status = true;
        if (newest) reopen_after_timeout();
        if (newest && std::holds_alternative<NoTurn>(conversation_.turn_state)) open_unseen();
        if (newest) revoke();
        if (Turn* turn = open_turn()) turn->agent_acted = true;
    }

    /// `running`, newer than all before it: resumes after an end, or revokes a candidate.
    void resume() {
        if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state)) count(*awaiting);
        if (std::holds_alternative<NoTurn>(conversation_.turn_state))
            open_unseen();
        else if (std::holds_alternative<Ended>(conversation_.turn_state))
            open(TurnKey(event_->id), event_->timestamp);
        else
            revoke();
    }

    /// The conversation is over. When that is the first status of it that was read, turn "start" is.
    void stop() {
        if (Turn* turn = is_first_status_ ? turn_or_start() : open_turn())
            end(Verdict::stopped, std::move(*turn), event_->id);
    }

    /// What the agent says after it asked the user opens nothing yet: its `running` may have been lost.
    void note_unopened(const AgentMessage& message) {
        auto* ended = std::get_if<Ended>(&conversation_.turn_state);
        const bool asked = conversation_.last && conversation_.last->verdict == Verdict::awaiting_user_input;
        if (!is_v0() || ended == nullptr || !asked || mutant(Mutant::lost_running_believed)) return;
        if (!ended->unopened) ended->unopened = UnopenedTurn{TurnKey(event_->id), at_, {}};
        ended->unopened->final_message = word_of(message);
    }

    /// It asks again, and what it said meanwhile shows that a turn was open.
    void open_unopened() {
        const auto* ended = std::get_if<Ended>(&conversation_.turn_state);
        if (ended == nullptr || !ended->unopened) return;
        Turn turn;
        turn.key = ended->unopened->key;
        turn.opened_on = ended->unopened->opened_on;
        turn.agent_acted = true;
        turn.final_message = ended->unopened->final_message;
        stand(Open{std::move(turn)});
    }

    void revoke() {
        auto* candidate = std::get_if<Candidate>(&conversation_.turn_state);
        if (!candidate || !newer(event_->timestamp, candidate->at)) return;
        Turn turn = std::move(candidate->turn);
        turn.status_seen = false;
        stand(Open{std::move(turn)});
    }

    void open(TurnKey key, std::optional<Instant> opened_at) {
        Turn turn;
        turn.key = std::move(key);
        turn.opened_on = at_;
        turn.opened_at = opened_at;
        stand(Open{std::move(turn)});
    }

    /// A turn whose opening was not seen.
    void open_unseen() {
        open(TurnKey("start"), std::nullopt);
        open_turn()->first_at = event_->timestamp;
    }

    /// `turn_state` may hold parts moved out of the present one, so it is taken by value.
    void stand(TurnState turn_state) { conversation_.turn_state = std::move(turn_state); }

    void count(Candidate& candidate) {
        const auto& message = candidate.turn.final_message;
        const bool asks = message && message->kind == MessageKind::message;
        end(asks ? Verdict::awaiting_user_input : Verdict::finished, std::move(candidate.turn),
            std::move(candidate.status_event));
    }

    void count(AwaitingDetail& awaiting) {
        end(Verdict::error, std::move(awaiting.turn), std::move(awaiting.status_event));
    }

    void end(Verdict verdict, Turn turn, std::string status_event) {
        TurnEnd ended{std::move(turn.key), verdict,        std::move(status_event), std::nullopt,
                      std::nullopt,        turn.opened_on, std::move(turn.digest)};
        const bool speaks = verdict == Verdict::finished || verdict == Verdict::awaiting_user_input;
        if (speaks && turn.final_message) ended.final_message = std::move(turn.final_message->text);
        if (verdict == Verdict::error) ended.reason = std::move(turn.reason);
        if (verdict == Verdict::timeout)
            ended.may_lie_in_gap = was_last_heard_before_gap(conversation_, rules_.inactivity);
        conversation_.last = ended;
        ended_.push_back(std::move(ended));
        stand(Ended{verdict == Verdict::timeout});
    }

    /// A turn that was given up lives after all: whatever comes from its agent opens another.
    void reopen_after_timeout() {
        const auto* ended = std::get_if<Ended>(&conversation_.turn_state);
        if (ended && ended->by_timeout) open(TurnKey(event_->id), event_->timestamp);
    }

    /// The inactivity timer came due. It starts again when the partition was away meanwhile, and waits where
    /// it is while the mass-timeout guard is on.
    void end_inactivity(Open& open, Instant now) {
        if (!would_time_out(conversation_, now, rules_.inactivity)) {
            conversation_ = epilogue::watch_inactivity(std::move(conversation_), rules_.inactivity);
        } else if (rules_.inactivity.may_fire) {
            end(Verdict::timeout, std::move(open.turn), "");
        }
    }

    // --- looking around ---------------------------------------------------------------------------------

    /// The turn that events still belong to: open, or its `finished` not counted yet.
    Turn* open_turn() {
        if (auto* open = std::get_if<Open>(&conversation_.turn_state)) return &open->turn;
        if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state)) return &candidate->turn;
        return nullptr;
    }

    /// The same; an end that is the first thing ever seen ends the turn "start".
    Turn* turn_or_start() {
        if (std::holds_alternative<NoTurn>(conversation_.turn_state)) open_unseen();
        return open_turn();
    }

    bool newer_or_equal_to_opening(const Turn& turn) const {
        return !turn.opened_at || !event_->timestamp || *event_->timestamp >= *turn.opened_at;
    }

    Conversation conversation_;
    const FoldRules& rules_;
    const Event* event_ = nullptr;
    Instant at_{};
    std::vector<TurnEnd> ended_;
    Applied applied_ = Applied::applied;
    bool is_first_status_ = false;  ///< no status of the conversation was read before the event
};

}  // namespace

std::string_view name_of(Applied applied) {
    return applied_names.of(applied);
}

bool could_steer(const Event& event) {
    return steers(event) || std::holds_alternative<AgentAction>(event.body);
}

bool is_for_watchers(const Event& event) {
    return event.schema == Schema::v1 && std::holds_alternative<Activity>(event.body);
}

Folded fold(Conversation conversation, const Event& event, Instant at, const FoldRules& rules) {
    FoldStep step(std::move(conversation), rules);
    step.fire_timer(at);
    step.apply(event, at);
    return std::move(step).result();
}

Folded tick(Conversation conversation, Instant now, const FoldRules& rules) {
    FoldStep step(std::move(conversation), rules);
    step.fire_timer(now);
    return std::move(step).result();
}

}  // namespace epilogue
