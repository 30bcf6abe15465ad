// Requests that a stand-in holds until a test lets them go.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "ops/fake_platform/http_messages.h"

namespace epilogue::testing {

/// Declared after the stand-in whose requests it holds: it has to end first. Thread-safe.
class Gate {
  public:
    ~Gate() { open(); }

    /// What the stand-in plays: holds the request, then answers 503.
    std::function<standin::Reply(const standin::Request&)> play() const {
        return [state = state_](const standin::Request&) {
            std::unique_lock lock(state->mutex);
            ++state->held;
            state->changed.notify_all();
            state->changed.wait(lock, [&] { return state->is_open; });
            return standin::json_reply(503, "{}");
        };
    }
    /// Returns when a request is held, or was.
    void wait_held() const {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [this] { return state_->held > 0; });
    }
    void open() const {
        const std::lock_guard lock(state_->mutex);
        state_->is_open = true;
        state_->changed.notify_all();
    }

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        int held = 0;
        bool is_open = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace epilogue::testing
