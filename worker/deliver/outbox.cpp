#include "worker/deliver/outbox.h"

#include <algorithm>

#include "base/thread_name.h"
#include "worker/deliver/credentials.h"
#include "worker/store/credential_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t max_queued = 10000;  // ids; what does not fit is found by the sweeper later
constexpr std::size_t sweep_rows = 500;
constexpr std::size_t sweep_queues = 50;
constexpr std::size_t heads_of_a_queue = 16;
constexpr std::chrono::milliseconds sweep_every{500};

}  // namespace

Outbox::Outbox(Store& store, Sender& sender, int senders, std::function<void(const std::string&)> trouble)
    : store_(store),
      sender_(sender),
      senders_(senders),
      max_per_sink_(static_cast<std::size_t>(std::max(1, senders / 2))),
      trouble_(std::move(trouble)) {}

void Outbox::start() {
    for (int i = 0; i < senders_; ++i)
        threads_.push_back(named_thread("sender", [this](const auto& stop) { send(stop); }));
    threads_.push_back(named_thread("sweeper", [this](const auto& stop) { sweep(stop); }));
}

Outbox::~Outbox() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
}

void Outbox::add(Task task) {
    const std::lock_guard lock(mutex_);
    if (draining_ || queue_.size() >= max_queued || !known_.insert(task.delivery_id).second) return;
    queue_.push_back(std::move(task));
    wake_senders_.notify_one();
}

void Outbox::sweep_now() {
    const std::lock_guard lock(mutex_);
    sweep_asked_ = true;
    wake_sweeper_.notify_one();
}

bool Outbox::drain(std::chrono::milliseconds deadline) {
    std::unique_lock lock(mutex_);
    draining_ = true;
    queue_.clear();
    return idle_.wait_for(lock, deadline, [this] { return busy_ == 0; });
}

std::optional<Outbox::Task> Outbox::begin() {
    const std::lock_guard lock(mutex_);
    return begin_locked();
}

std::optional<Outbox::Task> Outbox::begin_locked() {
    if (draining_) return std::nullopt;
    const auto found = std::find_if(queue_.begin(), queue_.end(), [this](const Task& task) {
        return under_way_[task.sink] < max_per_sink_;
    });
    if (found == queue_.end()) return std::nullopt;
    Task task = std::move(*found);
    queue_.erase(found);
    ++busy_;
    ++under_way_[task.sink];
    return task;
}

void Outbox::work_at(const Task& task) {
    const auto done = task.purpose == Purpose::dedup   ? sender_.remove_duplicates(task.delivery_id)
                      : task.purpose == Purpose::probe ? sender_.probe(task.delivery_id)
                                                       : sender_.deliver(task.delivery_id);
    trouble_(done ? "" : done.error().text);
    const std::lock_guard lock(mutex_);
    --busy_;
    --under_way_[task.sink];
    known_.erase(task.delivery_id);
    idle_.notify_all();
    if (done && *done && queue_.empty()) {
        sweep_asked_ = true;  // the callback's next delivery may have become its oldest
        wake_sweeper_.notify_one();
    }
}

void Outbox::sweep_once() {
    {
        const std::lock_guard lock(mutex_);
        sweep_asked_ = false;
        if (queue_.size() >= max_queued || draining_) return;
    }
    std::vector<Task> tasks;
    const auto looked = look(tasks);
    trouble_(looked ? "" : looked.error().text);
    for (Task& task : tasks) add(std::move(task));
}

/// What one look at the tables found besides deliveries that are due.
struct Outbox::Housekeeping {
    std::vector<std::string> empty_queues;
    std::vector<std::string> unsettled;       ///< credentials
    std::vector<std::string> nothing_parked;  ///< refused credentials for which nothing waits
};

Result<void> Outbox::look(std::vector<Task>& tasks) {
    Housekeeping housekeeping;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY_VOID(find_due(transaction, tasks));
        TRY_VOID(find_queued(transaction, tasks, housekeeping));
        return find_parked(transaction, tasks, housekeeping);
    }));
    for (const std::string& window : housekeeping.empty_queues) TRY_VOID(close_empty_queue(store_, window));
    for (const std::string& credential : housekeeping.unsettled) TRY_VOID(sender_.settle(credential));
    for (const std::string& credential : housekeeping.nothing_parked)
        TRY_VOID(forget_parked(store_, credential));
    return {};
}

Result<void> Outbox::find_due(Transaction& transaction, std::vector<Task>& tasks) {
    TRY(const auto due, transaction.deliveries().due(sweep_rows));
    for (const DeliveryRow& row : due) tasks.push_back({row.id, row.sink});
    TRY(const auto dedups, transaction.deliveries().due_dedups(sweep_rows));
    for (const DeliveryRow& row : dedups) tasks.push_back({row.id, row.sink, Purpose::dedup});
    return {};
}

/// Of each window that is open no more than may have a chance: the next look is soon.
Result<void> Outbox::find_queued(Transaction& transaction, std::vector<Task>& tasks,
                                 Housekeeping& housekeeping) {
    TRY(const auto windows, transaction.rate_limits().open_queues(sweep_queues));
    for (const std::string& window : windows) {
        TRY(const auto heads, transaction.rate_limits().queue_heads(window, heads_of_a_queue));
        for (const DeliveryRow& row : heads) tasks.push_back({row.id, row.sink});
        if (heads.empty()) housekeeping.empty_queues.push_back(window);
    }
    return {};
}

Result<void> Outbox::find_parked(Transaction& transaction, std::vector<Task>& tasks,
                                 Housekeeping& housekeeping) {
    TRY(housekeeping.unsettled, transaction.credentials().unsettled(sweep_queues));
    TRY(const auto due, transaction.credentials().to_probe(sweep_queues));
    for (const std::string& credential : due) {
        TRY(const auto oldest, transaction.credentials().oldest_parked(credential));
        if (oldest)
            tasks.push_back({oldest->id, oldest->sink, Purpose::probe});
        else
            housekeeping.nothing_parked.push_back(credential);
    }
    return {};
}

void Outbox::send(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        std::optional<Task> task;
        wake_senders_.wait(lock, stop, [&] { return (task = begin_locked()).has_value(); });
        if (!task) return;
        // What its end lets begin is this thread's own next task: nobody else has to be woken for it.
        lock.unlock();
        work_at(*task);
        lock.lock();
    }
}

void Outbox::sweep(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        sweep_once();
        std::unique_lock lock(mutex_);
        wake_sweeper_.wait_for(lock, stop, sweep_every, [this] { return sweep_asked_; });
    }
}

}  // namespace epilogue
