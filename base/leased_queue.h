// Work that is leased in a database, as one process sees it: a bounded queue of tasks, the threads that work
// at them, and a sweeper that finds tasks which no process works at.
//
// The database is the authority: a task in the queue is only a hint that there may be something to do, and
// the work itself takes the lease. So the queue may forget a task (when it is full, or when the process
// ends): the sweeper of this process or of another finds it again.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/thread_name.h"

namespace epilogue {

struct LeasedQueueRules {
    int threads = 1;
    const char* thread_name = "";   ///< of each thread that works; at most 15 characters
    const char* sweeper_name = "";  ///< likewise
    std::chrono::milliseconds sweep_every{1000};
    /// Tasks of one group that may be under way at the same time: a group that hangs cannot hold all threads.
    std::size_t max_per_group = std::numeric_limits<std::size_t>::max();
    std::size_t max_queued = 10000;
};

/// `Task` has two functions: `key()` returns what identifies it (ordered, copied), and `group()` returns a
/// pointer to the name of its group, or null when it has none, or none that is known yet. Tasks without a
/// group are not limited. Where it has a third, `max_in_group()`, that is the limit of its group, unless
/// max_per_group is lower. Thread-safe.
template <class Task>
class LeasedQueue {
  public:
    using Key = std::decay_t<decltype(std::declval<const Task&>().key())>;
    /// Works at a task that was begun; has to call done(), unless join() put the task back.
    using Work = std::function<void(const Task&, const std::stop_token&)>;

    explicit LeasedQueue(LeasedQueueRules rules) : rules_(rules) {}
    LeasedQueue(const LeasedQueue&) = delete;
    LeasedQueue& operator=(const LeasedQueue&) = delete;
    ~LeasedQueue() { stop(); }

    /// Starts the threads: each works at one task after the other; the sweeper calls `sweep`, which has to
    /// add what it finds. A simulation does not call this: it calls begin() and the rest by itself.
    void start(const Work& work, const std::function<void()>& sweep);
    /// Tells all threads to stop and waits for them; a task that is under way sees it in its stop token.
    void stop();

    /// Queues the task, unless one with its key is queued or under way, the queue is full, or it is draining.
    void add(Task task);
    /// The sweeper sweeps at once.
    void sweep_now();
    /// Empties the queue and begins no task from now on. Waits until no task is under way, at most
    /// `deadline`; false when one still is.
    bool drain(std::chrono::milliseconds deadline);

    /// The next task whose group has room, nullopt when there is none. It counts as under way until done().
    std::optional<Task> begin();
    /// For a task that was begun without a group and whose group is known by now. True when the group has
    /// room: the task counts there until done(). False when not: the task is put back, and begun again before
    /// others once there is room.
    bool join(const Task& task);
    /// The task is over. `look_again`: its end may have made others due, so when the queue is empty the
    /// sweeper sweeps at once.
    void done(const Task& task, bool look_again = false);
    /// To be called at the beginning of a sweep: false when the queue could not take what it finds.
    bool begin_sweep();

  private:
    /// Where a task stands: those that were put back before all others, each kind in the order of its coming.
    struct Place {
        bool is_put_back = false;
        std::uint64_t number = 0;
        bool operator<(const Place& other) const {
            return is_put_back != other.is_put_back ? is_put_back : number < other.number;
        }
    };
    /// Tasks that wait for the same room: of one group, or of none, and with the same limit.
    using LineName = std::pair<std::optional<std::string>, std::size_t>;
    struct Line {
        std::map<Place, Task> tasks;
        std::optional<Place> offered;  ///< its entry of `offers_`
    };

    std::optional<Task> begin_locked();
    LineName line_of(const Task& task) const;
    bool has_room(const LineName& name) const;
    void put(Task task, bool is_put_back);
    /// Offers the line's first task when its group has room, and no other of it.
    void offer(const LineName& name, Line& line);
    /// The same for all lines of a group, whose room has changed.
    void offer_again(const std::string& group);
    void run(const Work& work, const std::stop_token& stop);
    void run_sweeper(const std::function<void()>& sweep, const std::stop_token& stop);

    const LeasedQueueRules rules_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::condition_variable_any wake_sweeper_;
    std::condition_variable_any idle_;
    std::map<LineName, Line> lines_;    ///< those that are not empty
    std::map<Place, LineName> offers_;  ///< the first task of each line whose group has room
    std::uint64_t next_number_ = 0;
    std::size_t queued_ = 0;                        ///< tasks that wait, those put back excepted
    std::set<Key> known_;                           ///< queued, put back or under way
    std::map<std::string, std::size_t> under_way_;  ///< by group; no entry: none
    std::size_t busy_ = 0;                          ///< tasks under way
    bool draining_ = false;
    bool sweep_asked_ = false;
    std::vector<std::jthread> threads_;
};

template <class Task>
void LeasedQueue<Task>::start(const Work& work, const std::function<void()>& sweep) {
    for (int i = 0; i < rules_.threads; ++i)
        threads_.push_back(
            named_thread(rules_.thread_name, [this, work](const auto& stop) { run(work, stop); }));
    threads_.push_back(
        named_thread(rules_.sweeper_name, [this, sweep](const auto& stop) { run_sweeper(sweep, stop); }));
}

template <class Task>
void LeasedQueue<Task>::stop() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
}

template <class Task>
void LeasedQueue<Task>::add(Task task) {
    const std::lock_guard lock{mutex_};
    if (draining_ || queued_ >= rules_.max_queued || !known_.insert(task.key()).second) return;
    put(std::move(task), false);
    wake_.notify_one();
}

template <class Task>
void LeasedQueue<Task>::sweep_now() {
    const std::lock_guard lock{mutex_};
    sweep_asked_ = true;
    wake_sweeper_.notify_one();
}

template <class Task>
bool LeasedQueue<Task>::drain(std::chrono::milliseconds deadline) {
    std::unique_lock lock{mutex_};
    draining_ = true;
    lines_.clear();
    offers_.clear();
    queued_ = 0;
    return idle_.wait_for(lock, deadline, [this] { return busy_ == 0; });
}

template <class Task>
std::optional<Task> LeasedQueue<Task>::begin() {
    const std::lock_guard lock{mutex_};
    return begin_locked();
}

template <class Task>
std::optional<Task> LeasedQueue<Task>::begin_locked() {
    if (offers_.empty()) return std::nullopt;
    const auto [place, name] = *offers_.begin();
    const auto line = lines_.find(name);
    std::optional<Task> task = std::move(line->second.tasks.begin()->second);
    line->second.tasks.erase(line->second.tasks.begin());
    ++busy_;
    if (!place.is_put_back) --queued_;
    offers_.erase(place);
    line->second.offered.reset();
    const bool is_over = line->second.tasks.empty();
    if (is_over) lines_.erase(line);
    if (name.first) {
        ++under_way_[*name.first];
        offer_again(*name.first);  // this line, too
    } else if (!is_over) {
        offer(name, line->second);
    }
    return task;
}

template <class Task>
typename LeasedQueue<Task>::LineName LeasedQueue<Task>::line_of(const Task& task) const {
    const std::string* group = task.group();
    if (group == nullptr) return {std::nullopt, 0};
    if constexpr (requires { task.max_in_group(); })
        return {*group, std::min(rules_.max_per_group, task.max_in_group())};
    else
        return {*group, rules_.max_per_group};
}

template <class Task>
bool LeasedQueue<Task>::has_room(const LineName& name) const {
    if (!name.first) return true;
    const auto group = under_way_.find(*name.first);
    return group == under_way_.end() || group->second < name.second;
}

template <class Task>
void LeasedQueue<Task>::put(Task task, bool is_put_back) {
    const LineName name = line_of(task);
    Line& line = lines_[name];
    line.tasks.emplace(Place{is_put_back, next_number_++}, std::move(task));
    if (!is_put_back) ++queued_;
    offer(name, line);
}

template <class Task>
void LeasedQueue<Task>::offer(const LineName& name, Line& line) {
    if (line.offered) offers_.erase(*line.offered);
    line.offered.reset();
    if (line.tasks.empty() || !has_room(name)) return;
    line.offered = line.tasks.begin()->first;
    offers_.emplace(*line.offered, name);
}

template <class Task>
void LeasedQueue<Task>::offer_again(const std::string& group) {
    for (auto line = lines_.lower_bound({group, 0}); line != lines_.end() && line->first.first == group;
         ++line)
        offer(line->first, line->second);
}

template <class Task>
bool LeasedQueue<Task>::join(const Task& task) {
    const std::lock_guard lock{mutex_};
    if (has_room(line_of(task))) {
        ++under_way_[*task.group()];
        offer_again(*task.group());
        return true;
    }
    --busy_;
    idle_.notify_all();
    if (!draining_) put(task, true);
    return false;
}

template <class Task>
void LeasedQueue<Task>::done(const Task& task, bool look_again) {
    const std::lock_guard lock{mutex_};
    --busy_;
    known_.erase(task.key());
    if (task.group() != nullptr) {
        const auto group = under_way_.find(*task.group());
        if (--group->second == 0) under_way_.erase(group);
        offer_again(*task.group());
    }
    idle_.notify_all();
    if (look_again && queued_ == 0) {
        sweep_asked_ = true;
        wake_sweeper_.notify_one();
    }
}

template <class Task>
bool LeasedQueue<Task>::begin_sweep() {
    const std::lock_guard lock{mutex_};
    sweep_asked_ = false;
    return !draining_ && queued_ < rules_.max_queued;
}

template <class Task>
void LeasedQueue<Task>::run(const Work& work, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        std::optional<Task> task;
        wake_.wait(lock, stop, [&] { return (task = begin_locked()).has_value(); });
        if (!task) return;
        // The room that a task's end makes in its group is used by this thread's own next task: no other
        // thread has to be woken for it.
        lock.unlock();
        work(*task, stop);
        lock.lock();
    }
}

template <class Task>
void LeasedQueue<Task>::run_sweeper(const std::function<void()>& sweep, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        sweep();
        std::unique_lock lock{mutex_};
        wake_sweeper_.wait_for(lock, stop, rules_.sweep_every, [this] { return sweep_asked_; });
    }
}

}  // namespace epilogue
