#define BOOST_TEST_MODULE leased_queue
#include "base/leased_queue.h"

#include <atomic>
#include <condition_variable>
#include <future>

#include <boost/test/unit_test.hpp>

namespace epilogue {
namespace {

using namespace std::chrono_literals;

struct Task {
    int number = 0;
    std::optional<std::string> place = {};

    int key() const { return number; }
    const std::string* group() const {
        ++looks;
        return place ? &*place : nullptr;
    }
    inline static std::size_t looks = 0;  ///< at any task's group, by the one thread of a case
};

using Queue = LeasedQueue<Task>;

/// The number of the task that begins next; 0: none may.
int next(Queue& queue) {
    const auto task = queue.begin();
    return task ? task->number : 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_task_is_taken_once_until_it_is_over) {
    Queue queue(LeasedQueueRules{});
    queue.add({1});
    queue.add({1});
    queue.add({2});
    const auto first = queue.begin();
    BOOST_REQUIRE(first.has_value());
    BOOST_TEST(first->number == 1);
    queue.add({1});  // under way
    BOOST_TEST(next(queue) == 2);
    BOOST_TEST(next(queue) == 0);
    queue.done(*first);
    queue.add({1});
    BOOST_TEST(next(queue) == 1);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_left_to_the_sweeper) {
    Queue queue({.max_queued = 2});
    BOOST_TEST(queue.begin_sweep());
    for (int number = 1; number <= 3; ++number) queue.add({number});
    BOOST_TEST(!queue.begin_sweep());
    BOOST_TEST(next(queue) == 1);
    BOOST_TEST(queue.begin_sweep());
    queue.add({3});
    BOOST_TEST(next(queue) == 2);
    BOOST_TEST(next(queue) == 3);
}

BOOST_AUTO_TEST_CASE(a_group_has_no_more_under_way_than_it_may_and_others_pass_it) {
    Queue queue({.max_per_group = 1});
    queue.add({1, "a"});
    queue.add({2, "a"});
    queue.add({3, "b"});
    queue.add({4});
    BOOST_TEST(next(queue) == 1);
    BOOST_TEST(next(queue) == 3);
    BOOST_TEST(next(queue) == 4);
    BOOST_TEST(next(queue) == 0);
    queue.done({1, "a"});
    BOOST_TEST(next(queue) == 2);
}

/// Senders ask for a task under one mutex: what waits for a slow platform must not be gone through each time.
BOOST_AUTO_TEST_CASE(what_waits_in_a_full_group_is_not_gone_through_for_the_next_task) {
    Queue queue({.max_per_group = 1});
    constexpr int waiting = 5000;
    for (int number = 1; number <= waiting; ++number) queue.add({number, "full"});
    queue.add({waiting + 1, "free"});
    BOOST_TEST(next(queue) == 1);
    Task::looks = 0;
    BOOST_TEST(next(queue) == waiting + 1);
    BOOST_TEST(next(queue) == 0);
    queue.done({1, "full"});
    BOOST_TEST(next(queue) == 2);
    BOOST_TEST(Task::looks < 20U);
}

BOOST_AUTO_TEST_CASE(a_task_whose_group_turns_out_to_be_full_comes_first_once_there_is_room) {
    Queue queue({.max_per_group = 1});
    for (int number = 1; number <= 4; ++number) queue.add({number});
    BOOST_TEST(next(queue) == 1);
    BOOST_TEST(queue.join({1, "a"}));
    BOOST_TEST(next(queue) == 2);
    BOOST_TEST(!queue.join({2, "a"}));
    BOOST_TEST(next(queue) == 3);
    BOOST_TEST(queue.join({3, "b"}));
    queue.add({2});  // still known
    queue.done({1, "a"});
    BOOST_TEST(next(queue) == 2);
    BOOST_TEST(next(queue) == 4);
    BOOST_TEST(!queue.join({4, "a"}));
    BOOST_TEST(next(queue) == 0);
    queue.done({2, "a"});
    BOOST_TEST(next(queue) == 4);
}

BOOST_AUTO_TEST_CASE(a_queue_that_drains_begins_nothing_and_waits_for_what_is_under_way) {
    Queue queue(LeasedQueueRules{});
    queue.add({1});
    queue.add({2});
    BOOST_TEST(next(queue) == 1);
    BOOST_TEST(!queue.drain(1ms));
    BOOST_TEST(next(queue) == 0);
    queue.add({3});
    BOOST_TEST(next(queue) == 0);
    BOOST_TEST(!queue.begin_sweep());
    queue.done({1});
    BOOST_TEST(queue.drain(0ms));
}

BOOST_AUTO_TEST_CASE(threads_work_at_what_is_added_and_at_what_the_sweeper_finds) {
    Queue queue({.threads = 2, .thread_name = "works", .sweeper_name = "sweeps", .sweep_every = 10min});
    std::atomic<int> sweeps = 0;
    std::promise<void> first_sweep;
    std::promise<void> added;
    std::promise<void> found;
    std::promise<void> found_after_the_end;
    queue.start(
        [&](const Task& task, const std::stop_token&) {
            if (task.number == 1) added.set_value();
            if (task.number == 2) found.set_value();
            if (task.number == 3) found_after_the_end.set_value();
            queue.done(task, task.number == 2);
        },
        [&] {
            if (!queue.begin_sweep()) return;
            const int sweep = ++sweeps;
            if (sweep == 1) first_sweep.set_value();
            if (sweep > 1) queue.add({sweep});
        });
    queue.add({1});
    added.get_future().get();
    first_sweep.get_future().get();
    queue.sweep_now();
    found.get_future().get();
    found_after_the_end.get_future().get();
}

BOOST_AUTO_TEST_CASE(a_task_under_way_is_told_to_stop) {
    Queue queue({.thread_name = "works", .sweeper_name = "sweeps"});
    std::promise<void> begun;
    std::atomic<bool> told = false;
    queue.start(
        [&](const Task& task, const std::stop_token& stop) {
            std::mutex mutex;
            std::condition_variable_any never;
            std::unique_lock lock(mutex);
            begun.set_value();
            never.wait(lock, stop, [] { return false; });
            told = stop.stop_requested();
            queue.done(task);
        },
        [] {});
    queue.add({1});
    begun.get_future().get();
    queue.stop();
    BOOST_TEST(told);
}

}  // namespace epilogue
