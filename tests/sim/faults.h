// What can go wrong in a schedule, and how often it did. Each seed draws its own swarm.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tests/oracle/random.h"

namespace epilogue::sim {

using testing::Random;

enum class Fault {
    // processes
    crash,
    pause,
    clock_skew,
    // the log
    rebalance,
    cut_off_from_broker,
    slow_fetch,
    redelivery,
    offset_commit_refused,
    offset_commit_lost,
    watermarks_fail,
    // the database
    statement_lost,
    deadlock,
    commit_lost,
    commit_answer_lost,
    commit_lands_late,
    database_down,
    stalled_transaction,
    // the platform
    rate_limited,
    refused,
    unauthorised,
    answer_lost,
    request_lost,
    applied_late,
    look_up_fails,
    look_up_forbidden,
    look_up_lags,
    platform_twin,
    user_deletes,
    forged_copy,
    removal_fails,
    // the agent server
    agent_hangs,
    agent_refuses,
    agent_away,
    agent_went_on,
    // the events
    repeated_event,
    reordered_event,
    poison,
    refused_by_database,
    late_registration,
    count_,
};
constexpr std::size_t fault_kinds = static_cast<std::size_t>(Fault::count_);
std::string_view name_of(Fault fault);

/// Where a process can die or stall: between two steps of the protocol (sinks.md §2: T1 to H), and elsewhere.
enum class Point {
    before_t1,
    after_t1,
    before_t2,
    after_t2,
    before_t3,
    after_t3,
    before_request,
    request_on_its_way,
    request_applied,
    before_record,
    after_record,
    before_t4,
    after_t4,
    before_look_up,
    after_look_up,
    before_heal,
    after_heal,
    before_claim,
    after_claim,
    before_offset_commit,
    before_registration,
    after_registration,
    before_summary_lease,
    after_summary_lease,
    agent_asked,
    agent_answered,
    before_freeze,
    after_freeze,
    before_log_lease,
    after_log_lease,
    log_asked,
    log_answered,
    before_catch_up,
    after_catch_up,
    reading,
    nothing_written,
    count_,
};
constexpr std::size_t points = static_cast<std::size_t>(Point::count_);
std::string_view name_of(Point point);

struct FaultCounts {
    std::array<std::int64_t, fault_kinds> faults{};
    std::array<std::int64_t, points> crashes{};
    std::array<std::int64_t, points> pauses{};

    void add(const FaultCounts& other);
    int kinds() const;
};

class Faults {
  public:
    /// Draws the swarm.
    explicit Faults(Random random);

    /// Whether that fault happens now; counted when it does.
    bool strikes(Fault fault);
    /// Whether the process dies, or stalls, at this point.
    bool kills(Point point);
    bool stalls(Point point);
    void count(Fault fault) { ++counts_.faults[static_cast<std::size_t>(fault)]; }

    bool has(Fault fault) const { return rates_[static_cast<std::size_t>(fault)] > 0; }
    double rate(Fault fault) const { return rates_[static_cast<std::size_t>(fault)]; }
    /// From now on nothing goes wrong; or it does again.
    void heal() { healed_ = true; }
    void resume() { healed_ = false; }
    bool healed() const { return healed_; }
    /// How readily other processes run between two steps of one.
    double interleaving() const { return interleaving_; }
    const FaultCounts& counts() const { return counts_; }

  private:
    Random random_;
    std::array<double, fault_kinds> rates_{};
    std::array<double, points> deadly_{};
    std::array<double, points> sleepy_{};
    double interleaving_ = 0;
    bool healed_ = false;
    FaultCounts counts_;
};

}  // namespace epilogue::sim
