// RAII over librdkafka: one consumer in a group, one producer. Steps around the known bugs of 2.0.2:
// single-message poll only, eager rebalancing, close with a deadline; callers keep their own table of paused
// partitions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/named.h"
#include "base/record.h"
#include "base/result.h"

namespace epilogue {

/// The most that one answer of a broker to us may hold, while [kafka] properties say nothing else.
constexpr std::int64_t max_kafka_answer_bytes = 100'000'000;

struct KafkaSettings {
    std::string brokers;
    std::string client_id;
    std::map<std::string, std::string> properties;  ///< any librdkafka property; wins over our defaults
};

/// The broker has no record beyond this position.
struct EndOfPartition {
    int partition = 0;
    NextOffset position;
};
/// Something is wrong with the connection or the topic; the client goes on by itself.
struct KafkaError {
    std::string text;
    bool no_topic = false;  ///< the topic does not exist (yet)
    bool out_of_range =
        false;  ///< a partition has no such position, and is not read any more: reset_assignment()
};
using Polled = std::variant<std::monostate, Record, EndOfPartition, KafkaError>;

/// Told about ownership from inside poll() and close(), on their thread.
struct RebalanceListener {
    /// The partitions are assigned and paused: nothing of them is read before resume().
    std::function<void(const std::vector<int>& partitions)> assigned;
    /// They are about to be taken away. `lost`: they already were, commits will be refused.
    std::function<void(const std::vector<int>& partitions, bool lost)> revoked;
};

/// What the broker says a partition holds now.
struct Watermarks {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

/// poll() and close() on one thread; everything else from any.
class KafkaConsumer {
  public:
    /// Joins the group when first polled. Errors: Remedy::fatal for a property that librdkafka refuses.
    static Result<std::unique_ptr<KafkaConsumer>> open(const KafkaSettings& settings,
                                                       const std::string& topic, const std::string& group,
                                                       RebalanceListener listener);
    ~KafkaConsumer();
    KafkaConsumer(const KafkaConsumer&) = delete;
    KafkaConsumer& operator=(const KafkaConsumer&) = delete;

    /// The next thing that happens, or nothing when `wait` has passed.
    Polled poll(std::chrono::milliseconds wait);

    /// Takes the assignment away from the listener and gives it back, within the group's generation: the way
    /// to go on after a position that was out of range (a seek is refused then). On the poll thread.
    void reset_assignment();

    /// Reading goes on at `position`; the partition must be assigned and paused.
    Result<void> seek(int partition, NextOffset position);
    Result<void> pause(int partition);
    Result<void> resume(int partition);

    /// Commits for lag tools; with `wait` the broker's answer is awaited, at most so long.
    Result<void> commit(const std::map<int, NextOffset>& positions,
                        std::optional<std::chrono::milliseconds> wait);
    /// The group's committed offset; nullopt when there is none.
    Result<std::optional<NextOffset>> committed(int partition, std::chrono::milliseconds wait);
    /// Asked of the broker now, never from a cache.
    Result<Watermarks> watermarks(int partition, std::chrono::milliseconds wait);
    /// How many partitions the topic has now.
    Result<int> partitions(std::chrono::milliseconds wait);
    /// True when a broker answers now, within `wait`.
    bool is_reachable(std::chrono::milliseconds wait);
    /// Empty when the broker has not answered within `wait`.
    std::string cluster_id(std::chrono::milliseconds wait);

    /// Leaves the group: revoked() is called, then the client is destroyed. Gives up after `deadline`.
    void close(std::chrono::milliseconds deadline);

  private:
    struct Handles;
    explicit KafkaConsumer(std::unique_ptr<Handles> handles);
    std::unique_ptr<Handles> handles_;
};

/// Reads single records, outside of any group. One thread at a time.
class KafkaReader {
  public:
    static Result<std::unique_ptr<KafkaReader>> open(const KafkaSettings& settings, const std::string& topic);
    ~KafkaReader();
    KafkaReader(const KafkaReader&) = delete;
    KafkaReader& operator=(const KafkaReader&) = delete;

    /// The record with exactly that offset; nullopt when there is none (any more). Retryable without an
    /// answer within `wait`.
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset,
                                                       std::chrono::milliseconds wait);

  private:
    struct Handles;
    explicit KafkaReader(std::unique_ptr<Handles> handles);
    std::unique_ptr<Handles> handles_;
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
    struct Handles;
    explicit KafkaProducer(std::unique_ptr<Handles> handles);
    std::unique_ptr<Handles> handles_;
};

/// The partition, of so many, that a producer with murmur2 gives the key to.
int partition_of_key(std::string_view key, int partitions);

/// Creates a topic (one replica). An existing one is fine.
Result<void> create_topic(const KafkaSettings& settings, const std::string& topic, int partitions);

/// True when a broker answers within `wait`; else the error says what was tried.
Result<void> ping_kafka(const KafkaSettings& settings, std::chrono::milliseconds wait);

/// librdkafka's version, e.g. "2.0.2".
std::string kafka_version();

}  // namespace epilogue
