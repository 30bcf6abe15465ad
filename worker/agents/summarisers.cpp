#include "worker/agents/summarisers.h"

#include <algorithm>

#include "base/thread_name.h"
#include "worker/store/store.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t max_known = 10000;  // what does not fit is found by the sweeper later
constexpr std::size_t sweep_rows = 500;
constexpr std::chrono::seconds sweep_every{1};

}  // namespace

Summarisers::Summarisers(Store& store, FinalMessageSource& witness, Summariser& summariser, int threads,
                         std::function<void(const std::string&)> trouble)
    : store_(store),
      final_messages_(witness),
      summariser_(summariser),
      threads_wanted_(threads),
      max_per_server_(static_cast<std::size_t>(std::max(1, threads / 2))),
      trouble_(std::move(trouble)) {}

Summarisers::~Summarisers() {
    stop();
}

void Summarisers::start() {
    for (int i = 0; i < threads_wanted_; ++i)
        threads_.push_back(named_thread("summariser", [this](const auto& stop) { run(stop); }));
    threads_.push_back(named_thread("summary sweeper", [this](const auto& stop) { sweep(stop); }));
}

void Summarisers::stop() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
}

void Summarisers::add(const TurnId& turn) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= max_known || !known_.insert(turn).second) return;
    queue_.push_back(turn);
    wake_.notify_one();
}

std::optional<TurnId> Summarisers::begin() {
    const std::lock_guard lock(mutex_);
    return begin_locked();
}

std::optional<TurnId> Summarisers::begin_locked() {
    if (queue_.empty()) return std::nullopt;
    TurnId turn = std::move(queue_.front());
    queue_.pop_front();
    return turn;
}

void Summarisers::work_at(const TurnId& turn, const std::stop_token& stop) {
    const auto server = final_messages_.server_of(turn.conversation_id);
    if (!server) {
        trouble_(server.error().text);
        forget(turn);
        return;
    }
    if (!enter(*server, turn)) return;
    const auto done = summariser_.work_at(turn, stop);
    trouble_(done ? "" : done.error().text);
    leave(*server, turn);
}

bool Summarisers::enter(const std::string& server, const TurnId& turn) {
    const std::lock_guard lock(mutex_);
    AtServer& there = servers_[server];
    if (there.under_way >= max_per_server_) {
        there.waiting.push_back(turn);
        return false;
    }
    ++there.under_way;
    return true;
}

void Summarisers::leave(const std::string& server, const TurnId& turn) {
    const std::lock_guard lock(mutex_);
    known_.erase(turn);
    AtServer& there = servers_[server];
    --there.under_way;
    if (!there.waiting.empty()) {
        queue_.push_front(std::move(there.waiting.front()));
        there.waiting.pop_front();
        wake_.notify_one();
    } else if (there.under_way == 0) {
        servers_.erase(server);
    }
}

void Summarisers::forget(const TurnId& turn) {
    const std::lock_guard lock(mutex_);
    known_.erase(turn);
}

void Summarisers::sweep_once() {
    std::vector<TurnId> turns;
    const auto looked = store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(turns, transaction.summaries().owed(sweep_rows));
        return {};
    });
    trouble_(looked ? "" : looked.error().text);
    for (const TurnId& turn : turns) add(turn);
}

void Summarisers::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        std::optional<TurnId> turn;
        wake_.wait(lock, stop, [&] { return (turn = begin_locked()).has_value(); });
        if (!turn) return;
        lock.unlock();
        work_at(*turn, stop);
        lock.lock();
    }
}

void Summarisers::sweep(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        sweep_once();
        std::unique_lock lock(mutex_);
        wake_sweeper_.wait_for(lock, stop, sweep_every, [] { return false; });
    }
}

}  // namespace epilogue
