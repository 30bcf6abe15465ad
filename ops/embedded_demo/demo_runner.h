// Runs the scenarios: publishes their events, shows each post as the platform got it, and counts in the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/io/kafka.h"
#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/scenario.h"
#include "ops/embedded_demo/schedule.h"
#include "ops/embedded_demo/terminal.h"
#include "ops/embedded_demo/verifier.h"

namespace epilogue::demo {

/// What the platform does without Epilogue's knowledge, to prove that the count would show it.
struct PlantedFaults {
    bool suppress_one = false;  ///< one post is answered for, and never shown
    bool double_one = false;    ///< one post is shown twice
};

/// Used by one thread.
class DemoRunner {
  public:
    /// Registers the callbacks, and plants the platform's faults: `faults`, and always this one, that it
    /// takes the first scenario's post and then drops the connection. Keeps references to all arguments but
    /// `faults`. Throws std::runtime_error.
    DemoRunner(DemoEnvironment& environment, Terminal& terminal, const std::vector<Scenario>& scenarios,
               const PlantedFaults& faults);

    /// Publishes everything and shows what comes, until all turns are reported and nothing more comes, or
    /// `deadline`, or `stop`. Throws std::runtime_error when a worker or the broker fails.
    void run(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop);

    /// Compares what the platform shows now with the turns that had to be reported.
    Verifier count() const;

  private:
    using Clock = std::chrono::steady_clock;
    enum class LostAnswer { expected, lost, found };

    void publish_due();
    void show_new_posts();
    void show(const Post& post, const Match& match);
    void show_lost_answer();
    void show_progress();
    bool is_over();

    DemoEnvironment& environment_;
    Terminal& terminal_;
    const std::vector<Scenario>& scenarios_;
    const std::vector<ScheduledEvent> events_;
    std::unique_ptr<KafkaProducer> producer_;
    Verifier shown_;
    std::int64_t last_shown_id_ = 0;
    std::size_t published_ = 0;
    Clock::time_point began_;
    Clock::time_point last_change_;
    LostAnswer lost_answer_ = LostAnswer::expected;
};

}  // namespace epilogue::demo
