// Copies of dead letters in a topic, for those who watch one ([kafka] dead_letter_topic).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "base/io/kafka.h"
#include "worker/store/dead_letter_rows.h"

namespace epilogue {

/// Thread-safe. A thread of its own hears what brokers answer: the next letter may be days away.
class DeadLetterTopic {
  public:
    /// An empty `topic` switches it off. The producer is opened at the first copy.
    DeadLetterTopic(KafkaSettings settings, std::string topic)
        : settings_(std::move(settings)), topic_(std::move(topic)) {}
    /// Waits a second at most for answers to the last copies.
    ~DeadLetterTopic();
    DeadLetterTopic(const DeadLetterTopic&) = delete;
    DeadLetterTopic& operator=(const DeadLetterTopic&) = delete;

    /// Produces the letter's value under its key, with reason, topic, partition and offset as headers. The
    /// row in dead_letters is the record: a copy that fails, now or when a broker refuses it, is only logged.
    void copy(const DeadLetterRow& letter);

  private:
    /// Opens the producer where that is not done; false when it cannot be, which is logged.
    bool is_open();
    void listen(const std::stop_token& stop);
    void log_refused();

    const KafkaSettings settings_;
    const std::string topic_;
    std::mutex mutex_;  ///< of all below but the thread
    std::unique_ptr<KafkaProducer> producer_;
    std::int64_t refused_logged_ = 0;
    std::jthread listener_;
};

}  // namespace epilogue
