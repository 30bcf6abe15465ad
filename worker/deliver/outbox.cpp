#include "worker/deliver/outbox.h"

#include <algorithm>

#include "worker/deliver/credentials.h"
#include "worker/store/credential_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/rate_limit_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t sweep_rows = 500;
constexpr std::size_t sweep_queues = 50;
constexpr std::size_t heads_of_a_queue = 16;
constexpr std::chrono::milliseconds sweep_every{500};

}  // namespace

Outbox::Outbox(Store& store, Sender& sender, int senders, std::function<void(const std::string&)> trouble)
    : store_(store),
      sender_(sender),
      trouble_(std::move(trouble)),
      queue_({.threads = senders,
              .thread_name = "sender",
              .sweeper_name = "sweeper",
              .sweep_every = sweep_every,
              .max_per_group = static_cast<std::size_t>(std::max(1, senders / 2))}) {}

void Outbox::start() {
    queue_.start([this](const Task& task, const std::stop_token&) { work_at(task); },
                 [this] { sweep_once(); });
}

Result<bool> Outbox::send(const Task& task) {
    switch (task.purpose) {
        case Purpose::post:
            return sender_.deliver(task.delivery_id);
        case Purpose::probe:
            return sender_.probe(task.delivery_id);
        case Purpose::dedup:
            return sender_.remove_duplicates(task.delivery_id);
    }
    return false;
}

void Outbox::add_planned(const DeliveryRow& row, bool waits) {
    sender_.planned(row);
    if (!waits) add({row.id, row.sink});
}

void Outbox::work_at(const Task& task) {
    const auto sent = send(task);
    trouble_(sent ? "" : sent.error().text);
    queue_.done(task, sent && *sent);  // the callback's next delivery may have become its oldest
}

void Outbox::sweep_once() {
    if (!queue_.begin_sweep()) return;
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
        TRY_VOID(find_probes(transaction, tasks));
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

/// Of each platform that is down, and whose probe is due, one of the deliveries that wait for it; not always
/// the same, nor always the oldest: its own place alone may be out of order.
Result<void> Outbox::find_probes(Transaction& transaction, std::vector<Task>& tasks) {
    TRY(const auto all, transaction.credentials().down(sweep_queues));
    for (const DownCredential& down : all) {
        const std::string look_queue = look_queue_of(down.name);
        std::vector<DueDelivery> held;
        if (down.look_up_is_due) {
            TRY(held, transaction.rate_limits().queue_heads(look_queue, heads_of_a_queue));
        }
        const bool newest = offered_ % 2 != 0;
        if (held.empty() && down.post_is_due && !down.look_ups_wait) {
            TRY(held,
                transaction.credentials().held_posts(down.name, look_queue, newest, heads_of_a_queue / 2));
        }
        if (held.empty()) continue;
        const DueDelivery& row = held[offered_++ % held.size()];
        tasks.push_back({row.id, row.sink});
    }
    return {};
}

Result<void> Outbox::find_due(Transaction& transaction, std::vector<Task>& tasks) {
    TRY(const auto due, transaction.deliveries().due(sweep_rows));
    for (const DueDelivery& row : due) tasks.push_back({row.id, row.sink});
    TRY(const auto dedups, transaction.deliveries().due_dedups(sweep_rows));
    for (const DueDelivery& row : dedups) tasks.push_back({row.id, row.sink, Purpose::dedup});
    return {};
}

/// Of the queue of each open window no more deliveries than may get a permit before the next sweep.
Result<void> Outbox::find_queued(Transaction& transaction, std::vector<Task>& tasks,
                                 Housekeeping& housekeeping) {
    TRY(const auto windows, transaction.rate_limits().open_queues(sweep_queues));
    for (const std::string& window : windows) {
        TRY(const auto heads, transaction.rate_limits().queue_heads(window, heads_of_a_queue));
        for (const DueDelivery& row : heads) tasks.push_back({row.id, row.sink});
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

}  // namespace epilogue
