// A plan under test: what it wants done, as one line of text.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "agent/relay/follow/plan.h"

namespace epilogue::relay {

inline agent::RemoteEvent event_at(const std::string& id, double seconds = 0, const std::string& key = "",
                                   const std::string& status = "") {
    agent::RemoteEvent event;
    event.id = id;
    event.timestamp = "2026-11-21T08:13:" + std::to_string(10 + seconds);
    event.kind = key.empty() ? "MessageEvent" : "ConversationStateUpdateEvent";
    event.key = key;
    event.status = status;
    event.json = id;
    return event;
}

inline agent::RemoteEvent snapshot_at(const std::string& id, double seconds = 0) {
    return event_at(id, seconds, "full_state", "finished");
}

/// Plays a plan, and gathers what it produced.
template <class Plan>
class Played {
  public:
    explicit Played(LogPosition position = {}, PlanRules rules = {}) : plan(std::move(position), rules) {}

    /// What is to be done, without the timers: "open -1 | produce a#0 b".
    std::string begin() { return text_of(plan.begin()); }
    std::string after(Happening happening) { return text_of(plan.step(std::move(happening))); }
    std::string after_page(std::initializer_list<agent::RemoteEvent> events, std::string next = "") {
        return after(PageRead{events, std::move(next), std::chrono::milliseconds(0)});
    }
    std::string after_event(const std::string& id, std::optional<std::int64_t> seq = std::nullopt,
                            double seconds = 0) {
        return after(EventFrame{event_at(id, seconds), seq});
    }
    std::string after_snapshot(const std::string& id, double seconds = 0) {
        return after(EventFrame{snapshot_at(id, seconds)});
    }
    /// The topic acknowledges all that was produced.
    void acknowledge_all() {
        for (const Ticket ticket : std::exchange(tickets, {})) plan.step(Acked{ticket});
    }

    Plan plan;
    std::vector<Ticket> tickets;        ///< of what was produced
    std::vector<std::string> produced;  ///< "id", "id#seq", "id!" (a run is over)
    std::vector<std::pair<Timer, std::chrono::milliseconds>> timers;  ///< all that were set

  private:
    std::string text_of(const Effects& effects) {
        std::string text;
        for (const Effect& effect : effects) {
            const std::string each =
                std::visit([this](const auto& one) { return this->word_of(one); }, effect);
            if (!each.empty()) text += (text.empty() ? "" : " | ") + each;
        }
        return text;
    }

    std::string word_of(const Produce& record) {
        tickets.push_back(record.ticket);
        produced.push_back(record.json + (record.seq ? "#" + std::to_string(*record.seq) : "") +
                           (record.run_over ? "!" : ""));
        return produced.back();
    }
    std::string word_of(const OpenSocket& open) {
        return "open" + (open.after ? " " + std::to_string(*open.after) : "") +
               (open.pause.count() > 0 ? " in " + std::to_string(open.pause.count()) : "");
    }
    std::string word_of(const ReadPage& page) {
        return std::string(page.newest_first ? "read back" : "read") +
               (page.page_id.empty() ? "" : " from " + page.page_id);
    }
    std::string word_of(const AskCount&) { return "count"; }
    std::string word_of(const SetTimer& timer) {
        timers.emplace_back(timer.timer, timer.after);
        return "";
    }
    std::string word_of(const Moved& moved) {
        return "at " + std::to_string(moved.position.next) + " " + moved.position.last_id +
               (moved.position.renumbered ? " renumbered" : "");
    }
    std::string word_of(const GapSeen& gap) {
        return "gap " + std::to_string(gap.found) + "/" + std::to_string(gap.filled) + "/" +
               std::to_string(gap.lost);
    }
    std::string word_of(const Ended&) { return "ended"; }
};

}  // namespace epilogue::relay
