#include "tests/sim/process.h"

#include <algorithm>
#include <utility>

namespace epilogue::sim {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

void Process::wait(Micros time) {
    wake(*running_, time);
    Fiber::yield();
}

void Process::interleave() {
    if (schedule_.random.chance(schedule_.faults.interleaving()))
        wait(schedule_.random.between(microseconds{1}, milliseconds{30}));
}

void Process::pass(Point point) {
    if (schedule_.faults.kills(point)) {
        schedule_.say("{} dies at {}", name_, name_of(point));
        doomed_ = true;
        throw Crash{};
    }
    if (schedule_.faults.stalls(point)) {
        schedule_.say("{} stalls at {}", name_, name_of(point));
        stall(schedule_.random.between(seconds{3}, seconds{150}));
    }
}

void Process::stall(Micros time) {
    stand_still(time);
    wait(Micros{0});
}

void Process::start(std::function<void()> body, std::function<void()> done) {
    if (!alive_) return;
    const auto self = shared_from_this();  // it may die at once
    auto idle = std::find_if(threads_.begin(), threads_.end(), [](const auto& t) { return t->fiber.over(); });
    if (idle == threads_.end()) idle = threads_.insert(threads_.end(), std::make_unique<Thread>());
    Thread& thread = **idle;
    thread.done = std::move(done);
    thread.fiber.assign(std::move(body));
    drive(thread);
}

void Process::drive(Thread& thread) {
    Thread* const before = std::exchange(running_, &thread);
    thread.fiber.resume();
    running_ = before;
    if (doomed_) {
        kill();
    } else if (thread.fiber.over() && thread.done) {
        const auto done = std::exchange(thread.done, nullptr);
        done();
    }
}

void Process::wake(Thread& thread, Micros delay) {
    after(delay, [this, &thread] { drive(thread); });
}

void Process::when_running(std::function<void()> what) {
    if (!alive_) return;
    if (stands_still())
        deferred_.push_back(std::move(what));
    else
        what();
}

void Process::after(Micros delay, std::function<void()> what) {
    schedule_.after(delay, [self = shared_from_this(), what = std::move(what)]() mutable {
        self->when_running(std::move(what));
    });
}

void Process::stand_still(Micros time) {
    still_until_ = std::max(still_until_, schedule_.now() + time);
    schedule_.at(still_until_, [self = shared_from_this(), until = still_until_] {
        if (self->still_until_ == until) self->go_on();
    });
    on_still(time);
}

void Process::go_on() {
    if (!alive_) return;
    still_until_ = schedule_.now();
    for (const auto& what : std::exchange(deferred_, {}))
        if (alive_) when_running(what);
}

void Process::kill() {
    if (!alive_) return;
    const auto self = shared_from_this();
    alive_ = false;
    deferred_.clear();
    for (const auto& thread : threads_) thread->fiber.kill();
    on_death();
}

}  // namespace epilogue::sim
