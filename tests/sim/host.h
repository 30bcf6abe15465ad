// A machine that runs one worker: the product's parts over the ports of the world, started again when they
// die.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tests/sim/agent_logs.h"
#include "tests/sim/consumer.h"
#include "tests/sim/platform.h"
#include "tests/sim/store.h"
#include "tests/sim/told_agents.h"
#include "tests/sim/workload.h"
#include "worker/apply/batch.h"
#include "worker/apply/planner.h"
#include "worker/apply/registration.h"
#include "worker/consume/partition_queues.h"
#include "worker/observe/telemetry.h"

namespace epilogue::sim {

/// What all workers of a schedule share.
struct Surroundings {
    Schedule& schedule;
    Database& database;
    Broker& broker;
    Platform& platform;
    Metrics& metrics;
    Readiness& readiness;
    AskRules asking;
    const SummaryRules& summary;
    BatchRules batch;
    AgentLogs* agent_logs;                ///< null: the workers ask for no logs
    std::chrono::seconds agent_patience;  ///< how long they ask about a late registration
    ToldAgents* told_agents;              ///< null: agents are only asked for their last words
};

/// What begins with a watch in a world whose batches go by these rules.
WatchRules watch_rules(const BatchRules& batch);

class Host {
  public:
    Host(Surroundings world, int number);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Starts the worker; it joins the group.
    void start();
    /// kill -9 from outside.
    void kill();
    /// The same, and it is not started again for `time`.
    void keep_dead(Micros time);
    void stall(Micros time);
    void cut_off(Micros time);
    /// Everything that stands still goes on, what is dead is started.
    void heal();
    bool runs() const { return process_ != nullptr; }

  private:
    struct Assembly;

    void died();
    void stood_still(Micros time);
    void notice_loss();
    /// What one thread does again and again, one round at a time.
    struct Routine {
        void (Host::*round)(Routine&);
        bool under_way = false;
        Micros next = Micros::max();
        std::uint64_t asked = 0;
        Micros idle_for{0};  ///< of a loop
    };
    /// The next round comes after `delay` at the latest.
    void soon(Routine& routine, Micros delay);
    void run(Routine& routine, std::function<void()> body, std::function<void()> done);
    void poll_soon(Micros delay) { soon(polls_, delay); }
    void poll(Routine& polls);
    void turns_soon(Micros delay);
    void turn(Routine& turns);
    void dispatch();
    void ask_next();
    void sweep_soon(Micros delay) { soon(sweeps_, delay); }
    void sweep(Routine& sweeps);
    void catch_up_soon(Micros delay) { soon(catch_ups_, delay); }
    void catch_up(Routine& catch_ups);
    void read_logs();
    void adopt_soon();
    Micros until_next_due() const;
    Micros until_next_catch_up() const;

    Surroundings world_;
    const int number_;
    int incarnation_ = 0;
    Micros dead_until_{0};
    std::chrono::nanoseconds boot_offset_{0};
    Micros wall_offset_{0};
    QueueLimits limits_;
    int appliers_ = 1;
    std::shared_ptr<Process> process_;
    std::unique_ptr<Assembly> worker_;
    Routine polls_{&Host::poll};
    std::vector<Routine> turns_;  ///< of each loop
    Routine sweeps_{&Host::sweep};
    Routine catch_ups_{&Host::catch_up};
    int senders_busy_ = 0;
    int summarisers_busy_ = 0;
    int logs_read_ = 0;  ///< at the same time
};

}  // namespace epilogue::sim
