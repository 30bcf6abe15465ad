// The play itself: publishes the programme, shows each post as the platform got it, and counts in the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/io/kafka.h"
#include "ops/embedded_demo/verifier.h"
#include "ops/embedded_demo/terminal.h"
#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/scenario.h"
#include "ops/embedded_demo/schedule.h"

namespace epilogue::embedded {

/// What the platform does behind Epilogue's back, to prove that the count would show it.
struct Mischief {
    bool suppress_one = false;  ///< one post is answered for, and never shown
    bool double_one = false;    ///< one post is shown twice
};

/// Used by one thread.
class Play {
  public:
    /// Registers the callbacks, and tells the platform what to do wrong: besides `mischief` always this, that
    /// it takes the first story's post and then drops the connection. Keeps references to all that it is
    /// given. Throws std::runtime_error.
    Play(Stage& stage, Screen& screen, const std::vector<Story>& stories, const Mischief& mischief);

    /// Publishes everything and shows what comes, until all is told and quiet, or `deadline`, or `stop`.
    /// Throws std::runtime_error when a worker or the broker fails.
    void run(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop);

    /// What the platform shows now against what was to be told.
    Audit count() const;

  private:
    using Clock = std::chrono::steady_clock;
    enum class Drama { ahead, answer_lost, over };

    void publish_due();
    void show_new_posts();
    void show(const Post& post, const Told& told);
    void follow_drama();
    void show_progress();
    bool is_over();

    Stage& stage_;
    Screen& screen_;
    const std::vector<Story>& stories_;
    const std::vector<Cue> cues_;
    std::unique_ptr<KafkaProducer> producer_;
    Audit shown_;
    std::int64_t last_shown_id_ = 0;
    std::size_t published_ = 0;
    Clock::time_point began_;
    Clock::time_point last_change_;
    Drama drama_ = Drama::ahead;
};

}  // namespace epilogue::embedded
