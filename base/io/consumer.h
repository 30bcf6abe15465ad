// The port to a consumer group: one member's client. KafkaConsumer (kafka.h) is the one over librdkafka; the
// simulation has another one over its own broker.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/named.h"
#include "base/record.h"
#include "base/result.h"

namespace epilogue {

/// The broker has no record beyond this position.
struct EndOfPartition {
    int partition = 0;
    NextOffset position;
};

/// What the client reports of its connections or of the topic; it goes on by itself unless the kind says
/// more.
struct KafkaError {
    enum class Kind {
        connection,    ///< or a right: check() knows more
        no_topic,      ///< the topic does not exist (yet)
        out_of_range,  ///< a partition has no such position and is no longer read: reset_assignment()
    };
    std::string text;
    Kind kind = Kind::connection;
};

/// std::monostate: nothing happened.
using Polled = std::variant<std::monostate, Record, EndOfPartition, KafkaError>;

/// Called from inside poll(), reset_assignment() and close(), on their thread.
struct RebalanceListener {
    /// The partitions are assigned and paused: nothing of them is read before resume().
    std::function<void(const std::vector<int>& partitions)> assigned;
    /// The partitions are about to be taken away; the last moment to commit for them. `lost`: others own them
    /// already, and the broker would refuse commits.
    std::function<void(const std::vector<int>& partitions, bool lost)> revoked;
};

/// What the broker says a partition holds now.
struct Watermarks {
    std::int64_t low = 0;   ///< offset of the first record
    std::int64_t high = 0;  ///< one behind the last
};

/// join(), poll(), reset_assignment() and close() on one thread, the others on any. Errors are retryable
/// unless a call says otherwise; a call with `wait` fails when no broker answers in time.
class Consumer {
  public:
    Consumer() = default;
    Consumer(const Consumer&) = delete;
    Consumer& operator=(const Consumer&) = delete;
    virtual ~Consumer() = default;

    /// Subscribes; the group is joined by the first polls. The first call on a consumer. Errors:
    /// Remedy::fatal for a setting that the client refuses.
    virtual Result<void> join(RebalanceListener listener) = 0;
    /// The next thing that happens, or std::monostate when `wait` has passed.
    virtual Polled poll(std::chrono::milliseconds wait) = 0;
    /// Takes the assignment away from the listener and gives it back, within the group's generation: the only
    /// way to read on after a position that was out of range.
    virtual void reset_assignment() = 0;
    /// Leaves the group: revoked() is called, then the client ends. Gives up after `deadline`.
    virtual void close(std::chrono::milliseconds deadline) = 0;

    /// Reading goes on at `position`; the partition must be assigned and paused.
    virtual Result<void> seek(int partition, NextOffset position) = 0;
    virtual Result<void> pause(int partition) = 0;
    virtual Result<void> resume(int partition) = 0;

    /// Commits the group's offsets. With `wait` the broker's answer is awaited, at most so long; without it
    /// the call returns at once, and success means only that the request is on its way.
    virtual Result<void> commit(const std::map<int, NextOffset>& positions,
                                std::optional<std::chrono::milliseconds> wait) = 0;
    /// The group's committed offset; nullopt when there is none.
    virtual Result<std::optional<NextOffset>> committed(int partition, std::chrono::milliseconds wait) = 0;
    /// Asked of the broker now, never from a cache.
    virtual Result<Watermarks> watermarks(int partition, std::chrono::milliseconds wait) = 0;
    /// How many partitions the topic has now.
    virtual Result<int> partitions(std::chrono::milliseconds wait) = 0;
    /// Success when a broker answers within `wait` and lets us do what a member does; else the error says
    /// which of it is missing, and why. On the thread of poll().
    virtual Result<void> check(std::chrono::milliseconds wait) = 0;
    /// The cluster's id; empty when no broker has told it within `wait`.
    virtual std::string cluster_id(std::chrono::milliseconds wait) = 0;
    /// The topic's id, which a topic that is made anew has not; empty when the broker or the client knows no
    /// ids, or nothing is told within `wait`.
    virtual std::string topic_id(std::chrono::milliseconds wait) = 0;
    /// The record with exactly that offset, read outside of the group; nullopt when there is none (any more).
    virtual Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset,
                                                               std::chrono::milliseconds wait) = 0;
};

}  // namespace epilogue
