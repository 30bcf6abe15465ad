// The queue of owed summaries and the threads that ask for them, at most half of them at one agent server, so
// that one that hangs does not hold up the others. The sweeper finds summaries that no worker asks for.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/leased_queue.h"
#include "worker/agents/summariser.h"
#include "worker/store/store.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

class Summarisers {
  public:
    struct Task {
        TurnId turn;
        std::optional<std::string> server = {};  ///< its agent server; nullopt: not looked up yet

        const TurnId& key() const { return turn; }
        const std::string* group() const { return server ? &*server : nullptr; }
    };

    /// `trouble` is told of every failed database step, with an empty text when it works again.
    Summarisers(Store& store, FinalMessageSource& final_messages, Summariser& summariser, int threads,
                std::function<void(const std::string&)> trouble);

    /// Starts the threads. A simulation does not call it: it calls the steps below by itself.
    void start();
    /// Gives up what is under way, for other workers to find, and ends the threads; so does the destructor.
    void stop() { queue_.stop(); }

    /// Hands over a turn whose summary is owed; one that is queued or under way already is not taken twice.
    void add(const TurnId& turn) { queue_.add({turn}); }

    /// One step: the next turn; nullopt when there is none. The caller has to work at it.
    std::optional<Task> begin() { return queue_.begin(); }
    /// Asks and freezes, unless enough threads ask the same server: then the turn waits for them.
    void work_at(Task task, const std::stop_token& stop);
    /// One step of the sweeper: queues what is owed.
    void sweep_once();

  private:
    Store& store_;
    FinalMessageSource& final_messages_;
    Summariser& summariser_;
    const std::function<void(const std::string&)> trouble_;
    LeasedQueue<Task> queue_;
};

}  // namespace epilogue
