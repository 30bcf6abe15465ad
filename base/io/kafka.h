// RAII over librdkafka: a consumer in a group, a reader of single records, a producer. It works with every
// version from 2.0.2 on, and avoids what was broken in some of them: messages are polled one by one,
// rebalancing is eager unless a property says otherwise, close has a deadline, and callers keep their own
// table of paused partitions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/io/consumer.h"
#include "base/result.h"
#include "base/secret.h"

namespace epilogue {

/// The most that one answer of a broker may hold, while [kafka] properties say nothing else.
constexpr std::int64_t max_kafka_answer_bytes = 100'000'000;

/// The largest record that our producers send, and what a topic should take: the largest event and room for
/// what stands around it.
constexpr std::int64_t max_kafka_record_bytes = 20'971'520;

/// A token of SASL OAUTHBEARER.
struct KafkaToken {
    Secret text;
    Instant expires;
    std::string principal;  ///< whom it names
};
/// Asked for a token when a client starts and before the last one expires, on any thread. Errors: why there
/// is none.
using KafkaTokenSource = std::function<Result<KafkaToken>()>;

struct KafkaSettings {
    std::string brokers;
    std::string client_id;
    std::map<std::string, std::string> properties;  ///< any librdkafka property; wins over our defaults
    KafkaTokenSource token = nullptr;               ///< for SASL OAUTHBEARER; null: as the properties say
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

/// A group's member over librdkafka. A client that its group has put out for good (fenced by another of the
/// same group.instance.id, a right taken away, a protocol that is refused) is of no more use: revoked() says
/// that all is lost, check() says why, and later, by full jitter, poll() joins with another client.
class KafkaConsumer final : public Consumer {
  public:
    /// `produces_to`: a topic that others of the process produce to, whose right check() asks for; "": none.
    KafkaConsumer(KafkaSettings settings, std::string topic, std::string group, std::string produces_to = "");
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
    Result<void> check(std::chrono::milliseconds wait) override;
    std::string cluster_id(std::chrono::milliseconds wait) override;
    std::string topic_id(std::chrono::milliseconds wait) override;
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset,
                                                       std::chrono::milliseconds wait) override;

  private:
    struct GroupMember;
    Result<std::shared_ptr<GroupMember>> new_member(RebalanceListener listener) const;
    std::shared_ptr<GroupMember> member() const;
    void set_member(std::shared_ptr<GroupMember> next);
    KafkaError put_out(GroupMember& member, const std::string& why);
    Polled poll_dead(const GroupMember& member, std::chrono::milliseconds wait);

    const KafkaSettings settings_;
    const std::string topic_;
    const std::string group_;
    const std::string produces_to_;
    mutable std::mutex member_mutex_;
    std::shared_ptr<GroupMember> member_;  ///< null before join(); another one after a fatal error
    int times_put_out_ = 0;                ///< in a row
    std::chrono::steady_clock::time_point rejoins_at_{};
    std::mutex reader_mutex_;              ///< it reads for one thread at a time
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
    /// Takes what brokers have answered into acknowledged() and refused(); does not wait.
    void take_answers();
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

/// Makes clients of these settings, as a worker and `publish` need them, that connect to nothing. Errors:
/// Remedy::fatal, what librdkafka refuses: a property, or a file that a property names.
Result<void> try_kafka_settings(const KafkaSettings& settings);

struct KafkaVersion {
    std::string name;     ///< e.g. "2.12.1"
    unsigned number = 0;  ///< as rd_kafka_version() gives it: 0xMMmmrrxx, major, minor, revision, pre-release
    bool is_ours = true;  ///< the one that ops/librdkafka pins, with its patches
};
/// The librdkafka that this program runs with.
KafkaVersion kafka_version();

}  // namespace epilogue
