// One operating system process of the world: its threads as fibers, and whether it runs, stands still or is
// dead. Every port call of the product passes through here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/fiber.h"
#include "tests/sim/schedule.h"

namespace epilogue::sim {

class Process : public std::enable_shared_from_this<Process> {
  public:
    Process(Schedule& schedule, std::string name) : schedule_(schedule), name_(std::move(name)) {}

    // --- for port calls: on a fiber of this process ---
    /// Virtual time passes; others run meanwhile.
    void wait(Micros time);
    /// Others may run now.
    void interleave();
    /// The process may die or stall here.
    void pass(Point point);
    /// Stands still for `time` at once.
    void stall(Micros time);

    // --- for the scheduler ---
    /// Runs `body` on a fiber of its own; `done` when it is over. Nothing when the process is dead.
    void start(std::function<void()> body, std::function<void()> done);
    /// Runs `what` now, or when the process no longer stands still; never when it is dead.
    void when_running(std::function<void()> what);
    /// The same after `delay`.
    void after(Micros delay, std::function<void()> what);
    /// Stands still from now on for `time`, seen from outside.
    void stand_still(Micros time);
    /// Goes on at once.
    void go_on();
    /// kill -9. Not to be called from a fiber of this process.
    void kill();

    bool alive() const { return alive_; }
    bool stands_still() const { return still_until_ > schedule_.now(); }
    const std::string& name() const { return name_; }
    Schedule& schedule() { return schedule_; }

    std::function<void()> on_death = [] {};
    std::function<void(Micros)> on_still = [](Micros) {};

  private:
    struct Thread {
        Fiber fiber;
        std::function<void()> done;
    };

    void drive(Thread& thread);
    void wake(Thread& thread, Micros delay);

    Schedule& schedule_;
    const std::string name_;
    std::vector<std::unique_ptr<Thread>> threads_;
    Thread* running_ = nullptr;
    std::vector<std::function<void()>> deferred_;
    Micros still_until_{0};
    bool alive_ = true;
    bool doomed_ = false;
};

}  // namespace epilogue::sim
