// One event, or one moment, applied to a conversation. A part of the fold (fold.h), for its files alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/core/fold.h"

namespace epilogue {

/// Newer than the mark; whatever has a time is newer than none.
bool is_newer(const std::optional<Instant>& at, const std::optional<Instant>& than);

/// Members are the pieces of the result under construction.
class FoldStep {
  public:
    FoldStep(Conversation conversation, const FoldRules& rules)
        : conversation_(std::move(conversation)), rules_(rules) {}

    /// Fires the pending timer when it is due at `now`.
    void fire_timer(Instant now);
    /// Applies one event, whose record time is `at`.
    void apply(const Event& event, Instant at);
    Folded result() && {
        return {std::move(conversation_), std::move(ended_), applied_, std::move(notices_)};
    }

  private:
    // Which events are looked at, and in which order (fold.cpp).
    /// What `event` says of its server's clock, and its own time put right.
    void read_time();
    /// The clock was set back: what was kept back for that is applied after all.
    void apply_held(ClockJump jump);
    void apply_new();
    /// What the event tells of the turn's work, for its digest.
    void add_work();
    /// Where the event stands among those that the digest was told of.
    Digest::Order order_in(const Digest& digest) const;
    /// Its index in the server's log says that it stands behind all that was applied.
    bool is_in_order() const { return is_v0() || by_seq_; }
    bool is_v0() const { return event_->schema == Schema::v0; }
    bool is_repeat() const;
    void remember();
    bool is_late() const;
    /// Newer by its own timestamp than every status and agent event applied before (V0: by id, which
    /// is_repeat() has seen to).
    bool is_newest() const;
    /// `running` that is older than what was read tells of what is over, unless a turn is open and no newer
    /// status was read.
    bool is_stale(const StatusChange& change) const;

    // What each kind of event does (fold_events.cpp).
    void on(const UserMessage& message);
    bool is_before(const std::optional<Instant>& first_event) const;
    /// True for a message of a turn that began, and has come to its end, without it.
    bool is_told_late(const std::string& origin);
    /// True for a message of that turn that is not newer than what was seen of it first: the source sent live
    /// events and old ones interleaved. The oldest of them is the turn's opening after all.
    bool claim_opening(Turn& turn, const std::string& origin) const;
    /// The event is newer than every status applied, and may be of a turn whose opening is still to be told.
    bool may_be_early() const;
    /// An end while no turn is open that it could end, or behind the `finished` that stands: what opened its
    /// turn has been overtaken. True when it is kept for that.
    bool keep_early(const StatusChange& change);
    void keep_early(const AgentMessage& message);
    /// What was told before its turn was opened belongs to the turn that has just been.
    void apply_early();
    void on(const AgentAction&);
    void on(const AgentMessage& message);
    FinalMessage word_of(const AgentMessage& message) const;
    void on(const ErrorDetail& detail);
    void on(const GoalUpdate& goal);
    void on(const StopHookVerdict& verdict);
    void on(const RunOver& over);
    void on(const Activity&);
    /// It becomes known whether the conversation has a stop hook: a `finished` that stands waits for it, too.
    void note_stop_hook(bool has_one);
    void on(const StatusChange& change);
    /// The open turn waits for a person: told unless that was told since the agent last ran.
    void notice(std::string_view status);
    /// The agent runs: what holds its turn up from now on is told anew.
    void forget_notices();
    /// Our own instruction to the agent.
    void instruct();
    void on_v0_state(const StatusChange& change);
    void on_v1_status(const std::string& status);

    // Moves from one state to another (fold_turns.cpp).
    /// An agent action or message: opens the turn whose opening was not seen, or revokes a candidate.
    void agent_acts();
    /// Lets the mark come to the event's time. It goes back only with a clock that was set back, by `seq`.
    void raise(std::optional<Instant>& mark) const;
    /// `running`, newer than all before it: resumes after an end, or revokes a candidate.
    void resume();
    /// The conversation is over. When that is the first status of it that was read, turn "start" is.
    void stop();
    /// What the agent says after it asked the user opens nothing yet: its `running` may have been lost.
    void note_unopened(const AgentMessage& message);
    /// It asks again, and what it said meanwhile shows that a turn was open.
    void open_unopened();
    /// The `finished` that stands is taken back.
    void revoke(Candidate& candidate);
    /// The same, when the event is newer than it.
    void revoke_older();
    /// A `/goal` loop has ended, and the turn with it.
    void end_with(const GoalUpdate& goal);
    void open(TurnKey key, std::optional<Instant> opened_at, std::string origin = {});
    /// A turn whose opening was not seen.
    void open_unseen();
    /// `turn_state` may hold parts moved out of the present one, so it is taken by value.
    void stand(TurnState turn_state);
    Candidate candidate_of(Turn turn) const;
    void count(Candidate& candidate);
    void count(AwaitingDetail& awaiting);
    void end(Verdict verdict, Turn turn, std::string status_event);
    /// What the turn took, until now.
    void close_figures(Turn& turn) const;
    /// A turn that was given up lives after all: whatever comes from its agent opens another.
    void reopen_after_timeout();
    /// The inactivity timer came due. It starts again when the partition was away meanwhile, and waits where
    /// it is while the mass-timeout guard is on.
    void end_inactivity(Instant now);
    /// The turn that events still belong to: open, or its `finished` not counted yet.
    Turn* open_turn();
    /// The same; an end that is the first thing ever seen ends the turn "start".
    Turn* turn_or_start();
    /// Rounds of a `/goal` loop end with `finished` or `stuck`, and the next begins by itself.
    bool goal_goes_on() const;
    /// The `finished` that stands, unless the event is older than it.
    Candidate* candidate_before_event();
    bool newer_or_equal_to_opening(const Turn& turn) const;

    Conversation conversation_;
    const FoldRules& rules_;
    const Event* event_ = nullptr;
    std::optional<Instant> time_;  ///< the event's own, in UTC as far as its server's zone is known
    bool by_seq_ = false;          ///< order follows `seq`, and the event is behind all that was applied
    Instant at_{};
    std::vector<TurnEnd> ended_;
    std::vector<Notice> notices_;
    Applied applied_ = Applied::applied;
    bool is_first_status_ = false;  ///< no status of the conversation was read before the event
};

}  // namespace epilogue
