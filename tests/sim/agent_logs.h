// The agent server of the world: it has the logs of conversations, each event from the moment on at which it
// happened. It is slow, hangs, refuses, or is away for a while.
#pragma once

#include <map>
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

    /// One worker's way to it.
    ReadLog asked_by(Process& process);

  private:
    struct Kept {
        Micros since{0};
        std::vector<TimedEvent> events;
    };

    tl::expected<ServerLog, LogReadError> ask(const std::string& conversation_id, Process& process);

    Schedule& schedule_;
    std::map<std::string, Kept> kept_;
    Micros away_until_{0};
};

}  // namespace epilogue::sim
