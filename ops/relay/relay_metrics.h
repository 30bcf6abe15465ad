// The relay's metrics, never with a label per conversation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "agent/relay/follow/follow_rules.h"
#include "agent/relay/observer.h"

namespace epilogue {

/// How far a door is behind the servers.
struct DoorBehind {
    std::int64_t events = 0;
    std::chrono::duration<double> longest{0};  ///< that one of them has waited
};

/// What is measured when the metrics are asked for.
struct RelayGauges {
    std::size_t bytes_under_way = 0;
    std::chrono::duration<double> oldest_under_way{};
    DoorBehind webhook_behind{};
    DoorBehind app_server_behind{};
    bool is_ready = false;
};

/// Thread-safe.
class RelayMetrics {
  public:
    RelayMetrics();
    ~RelayMetrics();
    RelayMetrics(const RelayMetrics&) = delete;
    RelayMetrics& operator=(const RelayMetrics&) = delete;

    /// Counts what a door tells; valid as long as the metrics.
    relay::DoorObserver observer();
    /// Counts and shows what the follower tells; valid as long as the metrics.
    relay::FollowObserver follow_observer();
    /// Events of logs that had not come.
    void missing(const relay::GapSeen& gap);
    /// One HTTP request was answered.
    void answered(unsigned status);
    /// All of them, as Prometheus' text.
    std::string text(const RelayGauges& gauges);

  private:
    void set_behind(relay::Door door, const DoorBehind& behind);

    struct Families;
    const std::unique_ptr<Families> families_;
};

}  // namespace epilogue
