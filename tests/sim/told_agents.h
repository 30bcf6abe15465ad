// Agents that are written to, by people and by the workers of the world: what happens in a conversation
// stands in its server's log and comes into the topic. A message that comes while the agent works joins that
// work.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/event.h"
#include "tests/sim/broker.h"
#include "tests/sim/database.h"
#include "tests/sim/process.h"
#include "tests/sim/workload.h"
#include "worker/sources/final_message_source.h"

namespace epilogue::sim {

class ToldAgents {
  public:
    /// The turns of `conversations` are written there when they end.
    ToldAgents(Schedule& schedule, Broker& broker, Oracle& oracle,
               std::vector<ToldConversation>& conversations)
        : schedule_(schedule), broker_(broker), oracle_(oracle), conversations_(conversations) {}

    /// A person writes to that conversation so often, for the first time then.
    void begin(std::size_t conversation, int messages, Micros at);
    /// An agent works, or a person has more to write.
    bool is_busy() const;

    /// One worker's way to them: it tells each agent to summarise its turn (worker/sources/instructing.h).
    std::unique_ptr<FinalMessageSource> asked_by(Process& process, Database& database);

  private:
    class Source;
    class Told;

    struct Agent {
        std::size_t number = 0;
        std::vector<agent::RemoteEvent> log{};
        std::string status{};
        int to_come = 0;  ///< messages of the person
        int turn = 0;     ///< the person's newest
        bool waits_for_run = false;
        Micros newest{0};                   ///< own time of its newest event
        std::map<std::string, int> told{};  ///< how often each instruction came
    };

    void write(Agent& agent);
    void take(Agent& agent, const std::string& text, bool runs);
    void work(Agent& agent, const std::string& words, bool is_persons, const std::string& opening);
    std::string tell(Agent& agent,
                     const std::function<std::string(std::string_view id, std::string_view stamp)>& make);
    void change(Agent& agent, const std::string& status);
    Agent& agent_of(const ConversationId& conversation);
    std::string summary_of(const Agent& agent) const;

    Schedule& schedule_;
    Broker& broker_;
    Oracle& oracle_;
    std::vector<ToldConversation>& conversations_;
    std::map<ConversationId, Agent> agents_;
};

}  // namespace epilogue::sim
