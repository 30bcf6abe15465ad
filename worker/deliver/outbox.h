// The queue of owed deliveries and the threads that send them, at most half of them for one sink; the sweeper
// finds deliveries that no worker works at (base/leased_queue.h). A delivery that waits for a rate window or
// a credential is not in the queue and holds no thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/leased_queue.h"
#include "worker/deliver/sender.h"
#include "worker/store/store.h"

namespace epilogue {

class Outbox {
  public:
    struct Task {
        DeliveryId delivery_id;
        std::string sink;
        Purpose purpose = Purpose::post;

        const DeliveryId& key() const { return delivery_id; }
        const std::string* group() const { return &sink; }
    };

    /// For `senders` at the same time. `trouble` is told of every failed database step, with an empty text
    /// when it works again.
    Outbox(Store& store, Sender& sender, int senders, std::function<void(const std::string&)> trouble);

    /// Starts the threads. A simulation does not call it: it calls the steps below by itself. The destructor
    /// stops them and waits for requests that are under way.
    void start();

    /// Hands over a delivery that just became due, unless its id is queued or under way already.
    void add(Task task) { queue_.add(std::move(task)); }
    /// The same for one whose row has just become durable; `waits`: it is not due before its summary is
    /// frozen.
    void add_planned(const DeliveryRow& row, bool waits);
    /// Looks for due deliveries at once.
    void sweep_now() { queue_.sweep_now(); }
    /// No new delivery is begun from now on. True when those under way were recorded before the deadline.
    bool drain(std::chrono::milliseconds deadline) { return queue_.drain(deadline); }

    /// One step of a sender: the next task that may begin; nullopt when there is none. The caller has to work
    /// at it.
    std::optional<Task> begin() { return queue_.begin(); }
    void work_at(const Task& task);
    /// One step of the sweeper: parks and releases what waits for a credential, offers probes of platforms
    /// that are down, queues what is due.
    void sweep_once();

  private:
    struct Housekeeping;
    Result<bool> send(const Task& task);
    Result<void> look(std::vector<Task>& tasks);
    Result<void> find_probes(Transaction& transaction, std::vector<Task>& tasks);
    static Result<void> find_due(Transaction& transaction, std::vector<Task>& tasks);
    static Result<void> find_queued(Transaction& transaction, std::vector<Task>& tasks,
                                    Housekeeping& housekeeping);
    static Result<void> find_parked(Transaction& transaction, std::vector<Task>& tasks,
                                    Housekeeping& housekeeping);

    Store& store_;
    Sender& sender_;
    const std::function<void(const std::string&)> trouble_;
    LeasedQueue<Task> queue_;
    std::size_t offered_ = 0;  ///< probes, by the sweeper
};

}  // namespace epilogue
