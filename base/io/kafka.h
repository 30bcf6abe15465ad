// RAII over librdkafka: a consumer in a group, a reader of single records, a producer. It avoids what is
// known to be broken in 2.0.2: messages are polled one by one, rebalancing is eager, close has a deadline,
// and callers keep their own table of paused partitions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/io/consumer.h"
#include "base/result.h"

namespace epilogue {

/// The most that one answer of a broker may hold, while [kafka] properties say nothing else.
constexpr std::int64_t max_kafka_answer_bytes = 100'000'000;

struct KafkaSettings {
    std::string brokers;
    std::string client_id;
    std::map<std::string, std::string> properties;  ///< any librdkafka property; wins over our defaults
};

/// Reads single records, outside of any group. One thread at a time.
class KafkaReader {
  public:
    /// Errors: Remedy::fatal for a property that librdkafka refuses.
    static Result<std::unique_ptr<KafkaReader>> open(const KafkaSettings& settings, const std::string& topic);
    ~KafkaReader();
    KafkaReader(const KafkaReader&) = delete;
    KafkaReader& operator=(const KafkaReader&) = delete;

    /// The record with exactly that offset; nullopt when there is none (any more). Errors: retryable, no
    /// answer within `wait`.
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset,
                                                       std::chrono::milliseconds wait);

  private:
    struct SimpleConsumer;
    explicit KafkaReader(std::unique_ptr<SimpleConsumer> consumer);
    std::unique_ptr<SimpleConsumer> consumer_;
};

/// A group's member over librdkafka.
class KafkaConsumer final : public Consumer {
  public:
    KafkaConsumer(KafkaSettings settings, std::string topic, std::string group);
    ~KafkaConsumer() override;

    Result<void> join(RebalanceListener listener) override;
    Polled poll(std::chrono::milliseconds wait) override;
    void reset_assignment() override;
    void close(std::chrono::milliseconds deadline) override;
    Result<void> seek(int partition, NextOffset position) override;
    Result<void> pause(int partition) override;
    Result<void> resume(int partition) override;
    Result<void> commit(const std::map<int, NextOffset>& positions,
                        std::optional<std::chrono::milliseconds> wait) override;
    Result<std::optional<NextOffset>> committed(int partition, std::chrono::milliseconds wait) override;
    Result<Watermarks> watermarks(int partition, std::chrono::milliseconds wait) override;
    Result<int> partitions(std::chrono::milliseconds wait) override;
    bool is_reachable(std::chrono::milliseconds wait) override;
    std::string cluster_id(std::chrono::milliseconds wait) override;
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset,
                                                       std::chrono::milliseconds wait) override;

  private:
    struct GroupMember;
    const KafkaSettings settings_;
    const std::string topic_;
    const std::string group_;
    std::unique_ptr<GroupMember> member_;  ///< null before join()
    std::unique_ptr<KafkaReader> reader_;  ///< opened by the first record_at()
};

/// Idempotent, acks=all, partitioned by key with murmur2_random. Not thread-safe.
class KafkaProducer {
  public:
    static Result<std::unique_ptr<KafkaProducer>> open(const KafkaSettings& settings,
                                                       const std::string& topic);
    ~KafkaProducer();
    KafkaProducer(const KafkaProducer&) = delete;
    KafkaProducer& operator=(const KafkaProducer&) = delete;

    /// Copies the record for sending; waits while the local queue is full.
    Result<void> produce(std::string_view key, std::string_view value,
                         const std::vector<std::pair<std::string, std::string>>& headers = {});
    /// Waits until everything is answered or `wait` has passed; true when nothing is left.
    bool flush(std::chrono::milliseconds wait);

    std::int64_t acknowledged() const;
    std::int64_t refused() const;
    /// Why the last refused record was; empty when none was.
    std::string last_error() const;

  private:
    struct ProducerClient;
    explicit KafkaProducer(std::unique_ptr<ProducerClient> client);
    std::unique_ptr<ProducerClient> client_;
};

/// The partition, of so many, that a producer with murmur2 gives the key to.
int partition_of_key(std::string_view key, int partitions);

/// Creates a topic (one replica). An existing one is fine.
Result<void> create_topic(const KafkaSettings& settings, const std::string& topic, int partitions);

/// Success when a broker answers within `wait`; else the error names the brokers that were asked.
Result<void> ping_kafka(const KafkaSettings& settings, std::chrono::milliseconds wait);

/// librdkafka's version, e.g. "2.0.2".
std::string kafka_version();

}  // namespace epilogue
