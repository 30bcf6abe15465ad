// Reads the demo's topic as any other consumer of it would: a group of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/event.h"
#include "base/config.h"
#include "base/io/kafka.h"

namespace epilogue::demo {

/// Errors are std::runtime_error. Used by one thread.
class TopicReader {
  public:
    /// Joins the group; partitions are read from their beginning.
    explicit TopicReader(const Config& config);
    ~TopicReader();
    TopicReader(const TopicReader&) = delete;
    TopicReader& operator=(const TopicReader&) = delete;

    /// Whether it is given partitions. The group has to be polled until it is.
    bool is_reading() const { return is_reading_; }
    /// The next event that has not come before; nullopt when `wait` has passed, or something else came.
    std::optional<agent::RemoteEvent> next(std::chrono::milliseconds wait);
    /// What stood in the topic so far: each record, and each event once.
    std::size_t records() const { return records_; }
    std::size_t events() const { return seen_.size(); }

  private:
    void begin();

    KafkaConsumer consumer_;
    std::vector<int> assigned_;  ///< and not begun yet
    bool is_reading_ = false;
    std::size_t records_ = 0;
    std::set<std::string> seen_;
};

}  // namespace epilogue::demo
