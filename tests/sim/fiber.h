// A worker's thread in the simulation: it runs until it waits for virtual time at a port call, and goes on
// when the scheduler says so. All fibers share the one real thread.
#pragma once

#include <functional>
#include <memory>

namespace epilogue::sim {

/// Thrown out of a port call: the process is killed at this point. Nothing of the product catches it.
struct Crash {};

class Fiber {
  public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Gives it something to do; the last thing is over.
    void assign(std::function<void()> body);
    /// Runs until it yields or is over.
    void resume();
    /// Unwinds what it has under way by a Crash from where it yielded.
    void kill();
    bool over() const { return over_; }

    /// Leaves the fiber that runs; returns when it is resumed, or throws Crash.
    static void yield();
    /// The fiber that runs, or null.
    static Fiber* running();

  private:
    struct Context;
    static void enter();
    void loop();
    void leave();

    std::unique_ptr<Context> context_;
    std::function<void()> body_;
    bool over_ = true;
    bool dying_ = false;
};

}  // namespace epilogue::sim
