// A producer for many threads that tells of each record by itself what became of it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/io/kafka.h"
#include "base/result.h"

namespace epilogue {

struct KafkaRecord {
    std::string key;
    std::string value;
    std::vector<std::pair<std::string, std::string>> headers{};
};

struct AsyncProducerRules {
    std::string topic;
    std::chrono::milliseconds delivered_within{10'000};  ///< what is not acknowledged by then is given up
    const char* thread_name = "produce";                 ///< of the thread that tells; at most 15 characters
};

/// Idempotent, acks=all, zstd, partitioned by key with murmur2_random. Not bounded: its user counts. A client
/// that gives up for good (a broker that lost what it had acknowledged, a right that was taken away) is
/// replaced by a new one. Thread-safe.
class KafkaAsyncProducer {
  public:
    /// Success once all in-sync replicas have the record; else why it was given up.
    using Answered = std::function<void(Result<void>)>;

    /// Connects in the background. Errors: Remedy::fatal, a property that librdkafka refuses.
    static Result<std::unique_ptr<KafkaAsyncProducer>> open(const KafkaSettings& settings,
                                                            AsyncProducerRules rules);
    /// Gives up what is not acknowledged: each record's `answered` was called.
    ~KafkaAsyncProducer();
    KafkaAsyncProducer(const KafkaAsyncProducer&) = delete;
    KafkaAsyncProducer& operator=(const KafkaAsyncProducer&) = delete;

    /// Calls `answered` once, on the producer's own thread; it must return soon. Records of one key are sent
    /// in the order in which they were taken.
    void produce(KafkaRecord record, Answered answered);
    /// Calls `what` on that thread, within a tenth of a second.
    void call_soon(std::function<void()> what);

  private:
    class Clients;
    explicit KafkaAsyncProducer(std::unique_ptr<Clients> clients);
    std::unique_ptr<Clients> clients_;
};

}  // namespace epilogue
