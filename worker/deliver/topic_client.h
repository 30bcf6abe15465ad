// Makes the requests of the `topic` sink: produces records, and looks for them at a topic's end.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/http_message.h"
#include "base/io/kafka.h"
#include "base/io/kafka_async_producer.h"
#include "sinks/port/transport.h"

namespace epilogue {

/// Connects when it is first asked. Thread-safe.
class TopicClient {
  public:
    /// `timeout` is that of the requests.
    TopicClient(KafkaSettings settings, std::chrono::milliseconds timeout)
        : settings_(std::move(settings)), delivered_within_(timeout / 2) {}

    /// Makes one request of sinks/port/topic_request.h within its timeout; does not throw. A record is given
    /// up before that is over: what was not acknowledged is in the topic by then, or never.
    HttpAnswer answer(const HttpRequest& request);

  private:
    HttpAnswer produce(const HttpRequest& request);
    HttpAnswer search(const HttpRequest& request) const;
    /// The producer for a topic, opened once. Errors: Remedy::fatal, a property that librdkafka refuses.
    Result<KafkaAsyncProducer*> producer_of(const std::string& topic);

    const KafkaSettings settings_;
    const std::chrono::milliseconds delivered_within_;
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<KafkaAsyncProducer>> producers_;
};

}  // namespace epilogue
