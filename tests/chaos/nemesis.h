// What is done to the workers, their broker, their database and their network: faults drawn from a seed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/oracle/random.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/rig.h"
#include "tests/support/worker_processes.h"

namespace epilogue::testing {

enum class ChaosFault {
    kill_with_request_open,  ///< SIGKILL while the platform holds a request of the worker's
    kill_before_record,      ///< SIGKILL when the platform has answered and the answer is not written down
    pause,                   ///< SIGSTOP; SIGCONT when session and lease are over
    terminate,               ///< SIGTERM
    restart_broker,
    restart_database,
    kill_sessions,  ///< half of the workers' database sessions
    break_network,  ///< to the database and to the platform
};
std::string_view name_of(ChaosFault fault);

/// What hit, as the platform, the broker and the tables have it.
struct Hits {
    int kills = 0;
    int kills_with_request_open = 0;  ///< held by the platform, SENDING in the ledger after the kill
    int kills_before_record = 0;      ///< answered by the platform, SENDING in the ledger after the kill
    int pauses = 0;                   ///< longer than a lease, and the group had given the worker up
    int terminations = 0;
    int broker_restarts = 0;
    int database_restarts = 0;
    int killed_sessions = 0;
    int broken_networks = 0;
};

/// How workers are set, as far as faults depend on it.
struct Timing {
    std::chrono::seconds lease;
    std::chrono::seconds drain;
};

/// Not thread-safe.
class Nemesis {
  public:
    using Say = std::function<void(const std::string&)>;

    /// Says each thing it does; `complain` is called with what no worker should have done.
    Nemesis(const Rig& rig, WorkerProcesses& pool, FaultProxy& to_database, FaultProxy& to_platform,
            Timing timing, Random random, Say say, Say complain);

    void inject(ChaosFault fault);
    /// From now on no request is lost before the platform has got it: what is in doubt is found at the first
    /// look.
    void lose_no_more_requests() { may_lose_requests_ = false; }
    /// Ends whatever still goes wrong; returns when every paused worker goes on.
    void heal();
    const Hits& hits() const { return hits_; }

  private:
    struct Held {
        std::size_t request = 0;  ///< its number at the platform
        std::string delivery_id;
        std::string owner;
        std::size_t place = 0;
    };

    void kill_with_request_open();
    void kill_before_record();
    void pause();
    void terminate();
    void restart_broker();
    void restart_database();
    void kill_sessions();
    void break_network();

    std::vector<Held> hold(const std::string& deed, std::size_t count);
    bool is_unrecorded(const Held& held) const;
    void let_go_on();
    void mend_network();
    std::string any_hold();
    std::size_t any_running();

    const Rig& rig_;
    WorkerProcesses& pool_;
    FaultProxy& to_database_;
    FaultProxy& to_platform_;
    const Timing timing_;
    Random random_;
    const Say say_;
    const Say complain_;
    const int first_network_;  ///< from which on each kind of broken network has its turn
    bool may_lose_requests_ = true;
    std::size_t requests_read_ = 0;
    Hits hits_;
};

/// Posts that take a moment: so that there is always one under way.
void slow_posts(const FakePlatformProcess& platform);

}  // namespace epilogue::testing
