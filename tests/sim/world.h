// The world of one schedule: all who take part, how it comes to rest, and what is judged then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/config_extensions.h"
#include "tests/sim/faults.h"
#include "tests/sim/host.h"
#include "tests/sim/schedule.h"
#include "tests/sim/workload.h"
#include "worker/apply/registration.h"

namespace epilogue::sim {

class Client;

struct Outcome {
    std::vector<std::string> violations;
    FaultCounts faults;
    std::uint64_t trace_hash = 0;
    std::int64_t records = 0;     ///< in the log
    std::int64_t steps = 0;       ///< of the scheduler
    std::int64_t owed = 0;        ///< posts that had to be seen
    std::int64_t attempts = 0;    ///< requests that post
    std::int64_t created = 0;     ///< posts that were visible at some time
    std::int64_t duplicates = 0;  ///< of them, second ones of a delivery, seen until they were removed
    double virtual_hours = 0;
};

class World {
  public:
    /// Everything that is drawn follows from `seed`. `summary`: [summary] of the configuration.
    World(std::uint64_t seed, Trace::Level trace, const ConfigExtensions& summary = {});
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// Registers the callbacks, sends the records on their way, starts so many workers.
    void set_up(Workload told, int workers);
    /// Lets things happen until then, or until a promise is broken.
    void run_until(Micros time);
    /// Ends every fault and starts what is dead.
    void heal();
    /// Lets things happen until nothing is left to do; a violation when that takes longer.
    void converge(Micros longest);
    /// Compares what is seen with what is owed.
    void judge();
    Outcome outcome();
    bool is_sound() const { return oracle.violations().empty(); }

    Schedule schedule;
    Oracle oracle;
    Database database;
    Broker broker;
    Platform platform;
    BatchRules batch{.settle = settle};
    /// The agent servers that can be asked for their logs; no worker asks while there is none.
    std::unique_ptr<AgentLogs> agent_logs;
    std::chrono::seconds agent_patience{0};  ///< so long they are asked about a late registration
    /// The agents that are told to summarise their turns; none is told while there are none.
    std::unique_ptr<ToldAgents> told_agents;
    Workload workload;
    std::vector<std::unique_ptr<Host>> hosts;

  private:
    RegistrationRequest request_of(std::size_t index) const;
    void register_early();
    void register_late();
    /// A row that another program writes, by plain SQL.
    void write_foreign(std::size_t index);
    /// The operator retries what waits for one.
    void retry_parked();
    /// What is still to be done; empty: nothing.
    std::string unfinished() const;

    /// What the conversation looked like when that callback began to watch it.
    RegistrationSeen seen_by(CallbackId callback_id) const;
    void judge_summaries();

    const SummaryRules summary_;
    const AskRules asking_;
    Planner planner_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::map<std::size_t, CallbackId> foreign_;  ///< callback ids of those that others wrote
    std::int64_t owed_ = 0;
};

}  // namespace epilogue::sim
