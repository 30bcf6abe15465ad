// What became of each post, in the log: one line for each change of a delivery's state, after its commit.
// Lines about trouble are limited for each sink, so that a platform that is down does not fill the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/ids.h"
#include "base/io/log.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

/// The id under which tracing tools know the life of one post (W3C Trace Context: 32 hex digits): the digits
/// of the delivery's id, the same in every worker that works at it.
std::string trace_id_of(const DeliveryId& delivery_id);

/// Thread-safe.
class DeliveryLog {
  public:
    /// So many lines about trouble of one sink are written in each such span; the others are counted.
    static constexpr std::uint64_t trouble_lines = 20;
    static constexpr std::chrono::seconds trouble_span{10};

    explicit DeliveryLog(RateLimitedLog::Clock clock = &std::chrono::steady_clock::now)
        : clock_(std::move(clock)) {}

    /// Writes the line of a delivery that has just entered its state. PLANNED, the first SENDING and SENT are
    /// always written; every other state is trouble. The next line about the sink says in `held_back` how
    /// many were left out before it.
    void changed(const DeliveryRow& row);
    /// Writes one line for many deliveries of a credential that was refused, or works again.
    static void settled(const std::string& credential, DeliveryState state, std::int64_t rows);

  private:
    struct Span {
        std::chrono::steady_clock::time_point since;
        std::uint64_t written = 0;
        std::uint64_t left_out = 0;  ///< since the sink's last line
    };
    /// Whether a line may be written now; `left_out` becomes how many were not since the last one.
    bool may_write(const std::string& sink, bool is_trouble, std::uint64_t& left_out);

    const RateLimitedLog::Clock clock_;
    std::mutex mutex_;
    std::map<std::string, Span> spans_;  ///< by sink
};

}  // namespace epilogue
