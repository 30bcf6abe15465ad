// The agent server of the world: it has the logs of conversations, each event from the moment on at which it
// happened. It is slow, hangs, refuses, or is away for a while.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/process.h"
#include "tests/sim/reference.h"
#include "worker/agents/agent_log.h"

namespace epilogue::sim {

class AgentLogs {
  public:
    explicit AgentLogs(Schedule& schedule) : schedule_(schedule) {}

    /// From `since` on the server knows the conversation, and of its events those that have happened.
    void keep(const std::string& conversation_id, Micros since, std::vector<TimedEvent> events);
    /// All of its events; none when the server never knows it.
    std::vector<TimedEvent> events_of(const std::string& conversation_id) const;

    /// Until then no worker gets an answer, whatever heals.
    void stay_away_until(Micros time) { absent_until_ = time; }
    /// A conversation of another server, which takes calls and never answers one.
    void freeze(const std::string& conversation_id) { frozen_.insert(conversation_id); }
    /// When the conversation's log was read first; nullopt: never.
    std::optional<Micros> read_at(const std::string& conversation_id) const;

    /// One worker's way to it.
    AgentLogSource asked_by(Process& process);

  private:
    struct Kept {
        Micros since{0};
        std::vector<TimedEvent> events;
    };

    tl::expected<ServerLog, LogReadError> ask(const std::string& conversation_id, Process& process);

    Schedule& schedule_;
    std::map<std::string, Kept> kept_;
    Micros away_until_{0};
    Micros absent_until_{0};
    std::set<std::string> frozen_;
    std::map<std::string, Micros> read_at_;
};

}  // namespace epilogue::sim
