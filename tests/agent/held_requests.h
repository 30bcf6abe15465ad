// Requests that a fake server holds until a test releases them.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "ops/fake_platform/http_messages.h"

namespace epilogue::testing {

/// Declared after the server whose requests it holds: it has to end first. Thread-safe.
class HeldRequests {
  public:
    ~HeldRequests() { release(); }

    /// What the server does with a request: holds it, then answers 503.
    std::function<fake_platform::Reply(const fake_platform::Request&)> handler() const {
        return [state = state_](const fake_platform::Request&) {
            std::unique_lock lock(state->mutex);
            ++state->held;
            state->changed.notify_all();
            state->changed.wait(lock, [&] { return state->is_released; });
            return fake_platform::json_reply(503, "{}");
        };
    }
    /// Returns when a request is held, or has been.
    void wait_held() const {
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [this] { return state_->held > 0; });
    }
    void release() const {
        const std::lock_guard lock(state_->mutex);
        state_->is_released = true;
        state_->changed.notify_all();
    }

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        int held = 0;
        bool is_released = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace epilogue::testing
