// What the baselines in C++ share: a plain reader of a topic, and what they print when they are through.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <librdkafka/rdkafka.h>

namespace epilogue::bench {

using Message = std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)>;

/// Reads a topic from its beginning with librdkafka as it is; its group has it alone.
class TopicReader {
  public:
    TopicReader(const std::string& brokers, const std::string& topic, const std::string& group);

    /// The next record; ends the program with 1 when none comes within a minute.
    Message next();
    /// Of the first record.
    std::chrono::steady_clock::time_point began() const { return began_; }

  private:
    rd_kafka_t* client_;
    std::chrono::steady_clock::time_point began_;
};

/// Prints what was read since `reader` began, and what it cost, as one line of JSON, and ends the program:
/// leaving the group is no part of what is measured.
[[noreturn]] void tell_and_end(const TopicReader& reader, long events);

}  // namespace epilogue::bench
