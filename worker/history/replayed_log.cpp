#include "worker/history/replayed_log.h"

#include <algorithm>
#include <map>

#include "worker/core/server_clock.h"

namespace epilogue {
namespace {

/// Folds event after event, and keeps what ends with its times.
class Replay {
  public:
    Replay(const FoldRules& rules, bool has_times) : rules_(rules), has_times_(has_times) {
        rules_.keep_digest = true;
        rules_.inactivity = {};  // no callback watches: a log alone shows no inactivity
    }

    Conversation conversation;

    void apply(const Event& event, Instant at) {
        note(event, at);
        take(fold(std::move(conversation), event, at, rules_), at);
    }
    void tick_to(Instant at) { take(tick(std::move(conversation), at, rules_), at); }
    const FoldRules& rules() const { return rules_; }

    ReplayedLog done() && { return {std::move(conversation), std::move(ended_)}; }

  private:
    void note(const Event& event, Instant at) {
        if (has_times_ && std::holds_alternative<StatusChange>(event.body)) status_at_[event.id] = at;
    }
    void take(Folded folded, Instant at) {
        conversation = std::move(folded.conversation);
        for (TurnEnd& end : folded.ended) {
            ReplayedTurn& turn = ended_.emplace_back();
            turn.end = std::move(end);
            if (!has_times_) continue;
            turn.opened_at = turn.end.opened_on ? turn.end.opened_on : turn.end.first_at;
            const auto status = status_at_.find(turn.end.status_event);
            turn.ended_at = status == status_at_.end() ? at : status->second;
        }
    }

    FoldRules rules_;
    const bool has_times_;
    std::map<std::string, Instant> status_at_;  ///< by event id
    std::vector<ReplayedTurn> ended_;
};

}  // namespace

ReplayedLog replay(const ServerLog& log, Instant now, const FoldRules& rules) {
    const bool at_their_time = has_our_time(log.events, now);
    Replay replay(rules, at_their_time);
    if (log.zone) learn_zone(replay.conversation, *log.zone);
    replay.conversation.has_stop_hook = log.has_stop_hook;
    Instant at = at_their_time ? Instant{} : now;
    for (const Event& event : log.events) {
        if (at_their_time)
            at = std::max(at, std::min(*event.timestamp, now));
        else if (had_settled(replay.conversation, event, replay.rules()))
            replay.tick_to(*due_at(replay.conversation));
        replay.apply(event, at);
    }
    if (const auto settled = settled_by(log, replay.conversation, now, at_their_time, replay.rules()))
        if (!std::holds_alternative<Open>(replay.conversation.turn_state)) replay.tick_to(*settled);
    return std::move(replay).done();
}

ReplayedLog replay(const TopicLog& log, Instant now, const FoldRules& rules) {
    Replay replay(rules, true);
    Instant at{};
    for (const TopicLog::Entry& entry : log.entries) {
        at = std::max(at, std::min(entry.at, now));
        replay.apply(entry.event, at);
    }
    if (log.cut.empty() && !log.entries.empty()) replay.tick_to(now);
    return std::move(replay).done();
}

}  // namespace epilogue
