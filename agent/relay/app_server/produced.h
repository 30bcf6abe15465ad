// Records that one thread produces and waits for.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "agent/relay/topic.h"
#include "base/result.h"

namespace epilogue::relay {

/// For one thread.
class Produced {
  public:
    explicit Produced(Topic& topic) : topic_(topic), state_(std::make_shared<State>()) {}

    /// As soon as there is room; not at all when `stop` is requested before.
    void add(const TopicRecord& record, const std::stop_token& stop);
    /// Waits until all of them are acknowledged or given up; an error when one was given up or not taken.
    Result<void> wait();

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::size_t under_way = 0;
        bool has_room = true;
        std::string fault;
    };

    Topic& topic_;
    const std::shared_ptr<State> state_;
};

}  // namespace epilogue::relay
