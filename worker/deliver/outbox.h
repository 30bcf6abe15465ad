// The senders: named threads that take owed deliveries, at most half of them for one sink, and the sweeper
// that finds what nobody works at. What waits for a rate window or a credential is not in the queue and holds
// no sender. The queue holds ids only: the database is the authority.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "worker/deliver/sender.h"

namespace epilogue {

class Outbox {
  public:
    using Purpose = Sender::Purpose;
    struct Task {
        std::string delivery_id;
        std::string sink;
        Purpose purpose = Purpose::post;
    };

    /// For `senders` at the same time. `trouble` is told of every failed database step, with an empty text
    /// when it works again.
    Outbox(Store& store, Sender& sender, int senders, std::function<void(const std::string&)> trouble);
    /// Stops; waits for requests that are under way.
    ~Outbox();

    /// Starts the threads. Without it the steps below are somebody else's to call (a simulation's).
    void start();

    /// Hands over a delivery that just became due; an id that is queued or under way already is not taken
    /// twice.
    void add(Task task);
    /// Looks for due deliveries at once.
    void sweep_now();
    /// No new delivery is begun from now on; returns when those under way are recorded, or at the deadline.
    bool drain(std::chrono::milliseconds deadline);

    /// One step of a sender: the next task that may begin; nullopt when there is none. It has to be worked
    /// at.
    std::optional<Task> begin();
    void work_at(const Task& task);
    /// One step of the sweeper: parks and lets go what waits for a credential, queues what is due.
    void sweep_once();

  private:
    void send(const std::stop_token& stop);
    void sweep(const std::stop_token& stop);
    std::optional<Task> begin_locked();
    struct Housekeeping;
    Result<void> look(std::vector<Task>& tasks);
    static Result<void> find_due(Transaction& transaction, std::vector<Task>& tasks);
    static Result<void> find_queued(Transaction& transaction, std::vector<Task>& tasks,
                                    Housekeeping& housekeeping);
    static Result<void> find_parked(Transaction& transaction, std::vector<Task>& tasks,
                                    Housekeeping& housekeeping);

    Store& store_;
    Sender& sender_;
    const int senders_;
    const std::size_t max_per_sink_;
    const std::function<void(const std::string&)> trouble_;

    std::mutex mutex_;
    std::condition_variable_any wake_senders_;
    std::condition_variable_any wake_sweeper_;
    std::condition_variable_any idle_;
    std::deque<Task> queue_;
    std::set<std::string> known_;                   ///< queued or under way
    std::map<std::string, std::size_t> under_way_;  ///< by sink
    std::size_t busy_ = 0;
    bool draining_ = false;
    bool sweep_asked_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace epilogue
