#include "tests/sim/faults.h"

#include <algorithm>

namespace epilogue::sim {
namespace {

struct Kind {
    std::string_view name;
    double weight;       ///< how likely a seed has it
    double lowest_rate;  ///< each time it could happen
    double highest_rate;
};

constexpr std::array<Kind, fault_kinds> kinds{{
    {"crash", 0.6, 0.002, 0.02},
    {"pause", 0.4, 0.001, 0.01},
    {"clock_skew", 0.3, 1, 1},
    {"rebalance", 0.4, 0.02, 0.2},
    {"cut_off_from_broker", 0.2, 0.01, 0.1},
    {"slow_fetch", 0.3, 0.1, 0.5},
    {"redelivery", 0.3, 0.1, 0.5},
    {"offset_commit_refused", 0.2, 0.05, 0.5},
    {"offset_commit_lost", 0.2, 0.05, 0.5},
    {"watermarks_fail", 0.15, 0.1, 0.5},
    {"statement_lost", 0.25, 0.005, 0.05},
    {"deadlock", 0.25, 0.01, 0.15},
    {"commit_lost", 0.25, 0.01, 0.15},
    {"commit_answer_lost", 0.3, 0.01, 0.15},
    {"commit_lands_late", 0.2, 0.01, 0.1},
    {"database_down", 0.15, 0.02, 0.15},
    {"stalled_transaction", 0.2, 0.002, 0.02},
    {"rate_limited", 0.25, 0.05, 0.5},
    {"refused", 0.08, 0.02, 0.1},
    {"unauthorised", 0.08, 0.05, 0.2},
    {"answer_lost", 0.35, 0.05, 0.5},
    {"request_lost", 0.25, 0.05, 0.5},
    {"applied_late", 0.25, 0.05, 0.4},
    {"look_up_fails", 0.3, 0.05, 0.5},
    {"look_up_forbidden", 0.06, 0.05, 0.3},
    {"look_up_lags", 0.3, 0.1, 0.7},
    {"platform_twin", 0.25, 0.05, 0.4},
    {"user_deletes", 0.1, 0.05, 0.3},
    {"forged_copy", 0.3, 0.05, 0.3},
    {"removal_fails", 0.6, 0.3, 0.9},
    {"agent_hangs", 0.3, 0.05, 0.6},
    {"agent_refuses", 0.2, 0.05, 0.3},
    {"agent_away", 0.2, 0.05, 0.3},
    {"agent_went_on", 0.2, 0.05, 0.3},
    {"repeated_event", 0.4, 0.05, 0.3},
    {"reordered_event", 0.25, 0.02, 0.2},
    {"poison", 0.2, 0.01, 0.05},
    {"refused_by_database", 0.15, 0.01, 0.05},
    {"late_registration", 0.4, 0.1, 0.5},
}};

constexpr std::array<std::string_view, points> point_names{"before T1",
                                                           "after T1",
                                                           "before T2",
                                                           "after T2",
                                                           "before T3",
                                                           "after T3",
                                                           "G",
                                                           "S on its way",
                                                           "S applied",
                                                           "before record",
                                                           "after record",
                                                           "before T4",
                                                           "after T4",
                                                           "before R",
                                                           "after R",
                                                           "before H",
                                                           "after H",
                                                           "before claim",
                                                           "after claim",
                                                           "before offset commit",
                                                           "before registration",
                                                           "after registration",
                                                           "before a summary's lease",
                                                           "after a summary's lease",
                                                           "agent asked",
                                                           "agent answered",
                                                           "before freeze",
                                                           "after freeze",
                                                           "before a catch-up's lease",
                                                           "after a catch-up's lease",
                                                           "log asked",
                                                           "log answered",
                                                           "before a catch-up",
                                                           "after a catch-up",
                                                           "reading",
                                                           "nothing written"};

}  // namespace

std::string_view name_of(Fault fault) {
    return kinds[static_cast<std::size_t>(fault)].name;
}

std::string_view name_of(Point point) {
    return point_names[static_cast<std::size_t>(point)];
}

void FaultCounts::add(const FaultCounts& other) {
    for (std::size_t i = 0; i < fault_kinds; ++i) faults[i] += other.faults[i];
    for (std::size_t i = 0; i < points; ++i) crashes[i] += other.crashes[i];
    for (std::size_t i = 0; i < points; ++i) pauses[i] += other.pauses[i];
}

int FaultCounts::kinds() const {
    return static_cast<int>(std::count_if(faults.begin(), faults.end(), [](auto n) { return n > 0; }));
}

Faults::Faults(Random random) : random_(random) {
    // Some seeds are wild, some nearly calm: rare faults are seen alone as well as together.
    const double wildness = 0.3 + 1.4 * random_.real01();
    const auto draw_rate = [&](Fault fault) {
        const auto i = static_cast<std::size_t>(fault);
        const Kind& kind = kinds[i];
        const double draw = random_.real01();
        if (random_.chance(std::min(0.95, kind.weight * wildness)))
            rates_[i] = kind.lowest_rate + draw * (kind.highest_rate - kind.lowest_rate);
    };
    for (std::size_t i = 0; i < fault_kinds; ++i)
        if (Fault{static_cast<int>(i)} != Fault::forged_copy) draw_rate(Fault{static_cast<int>(i)});
    interleaving_ = random_.chance(0.3) ? 0.5 * random_.real01() : 0.05;
    deadly_.fill(rate(Fault::crash));
    sleepy_.fill(rate(Fault::pause));
    // Rare points are reached in time only when a seed aims at them.
    for (int i = random_.between(0, 3); i > 0 && has(Fault::crash); --i)
        deadly_[random_.below(points)] = 0.05 + 0.25 * random_.real01();
    for (int i = random_.between(0, 2); i > 0 && has(Fault::pause); --i)
        sleepy_[random_.below(points)] = 0.05 + 0.2 * random_.real01();
    // Last, so that the seeds of the scenarios that end on time (storms) draw the same numbers as before.
    draw_rate(Fault::forged_copy);
}

bool Faults::strikes(Fault fault) {
    const double likely = rate(fault);
    if (healed_ || likely <= 0 || !random_.chance(likely)) return false;
    count(fault);
    return true;
}

bool Faults::kills(Point point) {
    const auto at = static_cast<std::size_t>(point);
    if (healed_ || deadly_[at] <= 0 || !random_.chance(deadly_[at])) return false;
    ++counts_.crashes[at];
    count(Fault::crash);
    return true;
}

bool Faults::stalls(Point point) {
    const auto at = static_cast<std::size_t>(point);
    if (healed_ || sleepy_[at] <= 0 || !random_.chance(sleepy_[at])) return false;
    ++counts_.pauses[at];
    count(Fault::pause);
    return true;
}

}  // namespace epilogue::sim
