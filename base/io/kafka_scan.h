// Reads a stretch of one partition outside of any group, once, and not for longer than it may take: for who
// looks something up in the topic.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/instant.h"
#include "base/io/kafka.h"
#include "base/record.h"
#include "base/result.h"

namespace epilogue {

/// How far a stretch was read.
struct ScannedPart {
    int partition = 0;
    std::int64_t first = 0;  ///< the partition's first record then
    std::int64_t from = 0;   ///< read from here
    std::int64_t to = 0;     ///< up to here, without it
    std::int64_t end = 0;    ///< behind the partition's last record when the reading began

    bool is_whole() const { return to >= end; }
    bool operator==(const ScannedPart&) const = default;
};

/// One thread at a time.
class KafkaScan {
  public:
    using Clock = std::chrono::steady_clock;

    /// Errors: Remedy::fatal for a property that librdkafka refuses.
    static Result<std::unique_ptr<KafkaScan>> open(const KafkaSettings& settings, const std::string& topic);
    ~KafkaScan();
    KafkaScan(const KafkaScan&) = delete;
    KafkaScan& operator=(const KafkaScan&) = delete;

    /// How many partitions the topic has. Errors: retryable when no broker answers until then; Remedy::fatal
    /// when there is no such topic. Makes none.
    Result<int> partitions(Clock::time_point until);

    /// Shows every record from the first one that is of `since` or later (nullopt: from the partition's
    /// first) up to the end that the partition has now, or until `show` returns false. What comes after
    /// `until` stays unread. Errors:
    /// retryable, no answer before anything was read.
    Result<ScannedPart> read(int partition, std::optional<Instant> since, Clock::time_point until,
                             const std::function<bool(const RecordView&)>& show);

  private:
    struct Client;
    explicit KafkaScan(std::unique_ptr<Client> client);
    Result<ScannedPart> stretch_of(int partition, std::optional<Instant> since, Clock::time_point until);
    std::unique_ptr<Client> client_;
};

}  // namespace epilogue
