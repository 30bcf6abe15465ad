// Copies of dead letters in a topic, for those who watch one ([kafka] dead_letter_topic).
#pragma once

#include <memory>
#include <string>

#include "base/io/kafka.h"
#include "worker/store/dead_letter_rows.h"

namespace epilogue {

/// One thread.
class DeadLetterTopic {
  public:
    /// An empty `topic` switches it off. The producer is opened at the first copy.
    DeadLetterTopic(KafkaSettings settings, std::string topic)
        : settings_(std::move(settings)), topic_(std::move(topic)) {}

    /// Produces the letter's value under its key, with reason, topic, partition and offset as headers. The
    /// row in dead_letters is the record: a copy that fails is only logged.
    void copy(const DeadLetterRow& letter);

  private:
    const KafkaSettings settings_;
    const std::string topic_;
    std::unique_ptr<KafkaProducer> producer_;
};

}  // namespace epilogue
