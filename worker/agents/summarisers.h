// The summarisers: named threads that take owed summaries, at most half of them for one agent server, so that
// one that hangs holds up nobody else's; and the sweeper that finds what nobody works at. The queue holds ids
// only: the database is the authority.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "worker/agents/summariser.h"
#include "worker/store/store.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

class Summarisers {
  public:
    /// `trouble` is told of every failed database step, with an empty text when it works again.
    Summarisers(Store& store, FinalMessageSource& witness, Summariser& summariser, int threads,
                std::function<void(const std::string&)> trouble);
    /// Stops.
    ~Summarisers();

    /// Starts the threads. Without it the steps below are somebody else's to call (a simulation's).
    void start();
    /// Gives up what is under way, for others to find, and ends the threads.
    void stop();

    /// Hands over a turn whose summary is owed; one that is queued or under way already is not taken twice.
    void add(const TurnId& turn);

    /// One step: the next turn; nullopt when there is none. It has to be worked at.
    std::optional<TurnId> begin();
    /// Asks and freezes, unless enough others ask the same server: then the turn waits for them.
    void work_at(const TurnId& turn, const std::stop_token& stop);
    /// One step of the sweeper: queues what is owed.
    void sweep_once();

  private:
    struct AtServer {
        std::size_t under_way = 0;
        std::deque<TurnId> waiting;
    };

    void run(const std::stop_token& stop);
    void sweep(const std::stop_token& stop);
    bool enter(const std::string& server, const TurnId& turn);
    void leave(const std::string& server, const TurnId& turn);
    void forget(const TurnId& turn);
    std::optional<TurnId> begin_locked();

    Store& store_;
    FinalMessageSource& final_messages_;
    Summariser& summariser_;
    const int threads_wanted_;
    const std::size_t max_per_server_;
    const std::function<void(const std::string&)> trouble_;

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::condition_variable_any wake_sweeper_;
    std::deque<TurnId> queue_;
    std::set<TurnId> known_;  ///< queued, waiting or under way
    std::map<std::string, AtServer> servers_;
    std::vector<std::jthread> threads_;
};

}  // namespace epilogue
