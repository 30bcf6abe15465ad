#include "worker/serve/gauges.h"

#include <algorithm>

#include "base/stoppable_wait.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds refresh_every{2};
constexpr std::array open_states{"PLANNED", "SENDING", "UNKNOWN", "RETRY", "PARKED"};

}  // namespace

void Gauges::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto positions = queues_.positions();
        refresh_lag(positions);
        refresh_pool(positions.contains(0));
        refresh_held(positions);
        wait_or_stop(stop, refresh_every);
    }
}

void Gauges::refresh_lag(const std::map<int, NextOffset>& positions) {
    for (const auto& [partition, position] : positions) {
        const auto marks = log_.watermarks(partition);
        if (!marks) return;
        const bool still_ours = queues_.positions().contains(partition);
        if (still_ours)
            telemetry_.metrics.consumer_lag(
                topic_, partition,
                static_cast<double>(std::max<std::int64_t>(0, marks->high - position.value)));
    }
}

void Gauges::refresh_held(const std::map<int, NextOffset>& positions) {
    const auto rows = store_.query(
        "SELECT partition_id, COUNT(*) FROM conversations WHERE timer=2 AND held=1 GROUP BY partition_id");
    if (!rows) return;
    std::int64_t held = 0;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        const auto partition = static_cast<int>(columns.number());
        if (positions.contains(partition)) held += columns.number();
    }
    telemetry_.metrics.timeouts_held(static_cast<double>(held));
    telemetry_.readiness.set(
        "timeouts", held == 0 ? ""
                              : std::to_string(held) +
                                    " turns fell silent at about the same time: that is one broken relay; "
                                    "none of them is reported until events come again");
}

void Gauges::refresh_pool(bool ours) {
    if (!ours) {
        telemetry_.metrics.forget_pool();
        return;
    }
    const auto rows = store_.query(
        "SELECT state, COUNT(*), TIMESTAMPDIFF(MICROSECOND, MIN(created_at), UTC_TIMESTAMP(6)) "
        "FROM deliveries WHERE state IN ('PLANNED','SENDING','UNKNOWN','RETRY','PARKED') GROUP BY state");
    if (!rows) return;
    std::map<std::string, std::int64_t> counts;
    std::int64_t oldest = 0;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        const std::string state = columns.text();
        counts[state] = columns.number();
        oldest = std::max(oldest, columns.number());
    }
    for (const char* state : open_states)
        telemetry_.metrics.undelivered(state, static_cast<double>(counts[state]));
    constexpr double micros = 1e6;
    telemetry_.metrics.oldest_undelivered(static_cast<double>(oldest) / micros);
    refresh_parked();
}

/// A cause is a class of ours, then what the platform said, which may be anything.
void Gauges::refresh_parked() {
    const auto rows = store_.query(
        "SELECT sink, CASE SUBSTRING_INDEX(cause, ':', 1) WHEN ? THEN ? WHEN ? THEN ? ELSE 'unusable' END "
        "AS why, COUNT(*) FROM deliveries WHERE state='PARKED' GROUP BY sink, why",
        {std::string(cause_credential), std::string(cause_credential), std::string(cause_cannot_look_up),
         std::string(cause_cannot_look_up)});
    if (!rows) return;
    std::vector<ParkedKind> kinds;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        ParkedKind kind{columns.text(), columns.text()};
        kind.count = static_cast<double>(columns.number());
        kinds.push_back(std::move(kind));
    }
    telemetry_.metrics.parked(kinds);
}

}  // namespace epilogue
