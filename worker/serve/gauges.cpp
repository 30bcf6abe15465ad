#include "worker/serve/gauges.h"

#include <algorithm>

#include "base/stoppable_wait.h"
#include "sinks/port/quota.h"
#include "worker/core/rate_window.h"
#include "worker/core/reconcile_pace.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds refresh_every{2};
constexpr double micros = 1e6;  // in a second
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
    std::set<int> behind;
    for (const auto& [partition, position] : positions) {
        const auto marks = log_.watermarks(partition);
        if (!marks) return;
        const bool still_ours = queues_.positions().contains(partition);
        if (!still_ours) continue;
        const auto lag = std::max<std::int64_t>(0, marks->high - position.value);
        telemetry_.metrics.consumer_lag(topic_, partition, static_cast<double>(lag));
        if (lag == 0)
            telemetry_.metrics.consumer_lag_seconds(topic_, partition, 0);
        else
            behind.insert(partition);
    }
    if (!behind.empty()) refresh_lag_seconds(behind);
}

/// What is unread is younger than the last record applied, and than the moment when nothing was left to read.
void Gauges::refresh_lag_seconds(const std::set<int>& behind) {
    const auto rows = store_.query(
        "SELECT partition_id, TIMESTAMPDIFF(MICROSECOND, MAX(GREATEST(COALESCE(last_record_time, "
        "caught_up_at), COALESCE(caught_up_at, last_record_time))), UTC_TIMESTAMP(6)) FROM "
        "partition_progress WHERE topic=? GROUP BY partition_id",
        {topic_});
    if (!rows) return;
    const auto positions = queues_.positions();
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        const auto partition = static_cast<int>(columns.number());
        const auto age = columns.number_or_null();
        if (age && behind.contains(partition) && positions.contains(partition))
            telemetry_.metrics.consumer_lag_seconds(topic_, partition,
                                                    std::max(0.0, static_cast<double>(*age) / micros));
    }
}

void Gauges::refresh_held(const std::map<int, NextOffset>& positions) {
    const auto rows = store_.query(
        "SELECT partition_id, COUNT(*) FROM conversations WHERE timer=2 AND held=1 GROUP BY partition_id");
    if (!rows) {
        telemetry_.metrics.forget_timeouts_held();
        return;
    }
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
    const bool is_known = ours && refresh_undelivered() && refresh_parked() && refresh_breakers() &&
                          refresh_gaps() && refresh_hindrances();
    if (!is_known) telemetry_.metrics.forget_pool();
}

bool Gauges::refresh_undelivered() {
    const auto rows = store_.query(
        "SELECT sink, state, COUNT(*), TIMESTAMPDIFF(MICROSECOND, MIN(created_at), UTC_TIMESTAMP(6)) "
        "FROM deliveries WHERE state IN ('PLANNED','SENDING','UNKNOWN','RETRY','PARKED') GROUP BY sink, "
        "state");
    if (!rows) return false;
    std::map<std::string, UndeliveredKind> by_sink;
    const auto kind_of = [&](const std::string& sink) -> UndeliveredKind& {
        UndeliveredKind& kind = by_sink[sink];
        kind.sink = sink;
        for (const char* state : open_states) kind.counts.try_emplace(state, 0);
        return kind;
    };
    for (const std::string& sink : sinks_) kind_of(sink);
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        UndeliveredKind& kind = kind_of(columns.text());
        const std::string state = columns.text();
        kind.counts[state] = static_cast<double>(columns.number());
        kind.oldest = std::max(kind.oldest, static_cast<double>(columns.number()) / micros);
    }
    std::vector<UndeliveredKind> kinds;
    for (auto& [sink, kind] : by_sink) kinds.push_back(std::move(kind));
    telemetry_.metrics.undelivered(kinds);
    return true;
}

/// Those that are still to be looked at, and those whose agent server has not answered.
bool Gauges::refresh_gaps() {
    const auto rows = store_.query(
        "SELECT (SELECT COALESCE(SUM(COALESCE(remaining,1)),0) FROM log_gaps WHERE done=0) + "
        "(SELECT COUNT(*) FROM catch_ups u JOIN callback_progress p ON "
        "p.conversation_id=u.conversation_id AND p.phase IN ('watching','dormant') WHERE u.why='gap')");
    if (!rows) return false;
    telemetry_.metrics.gap_callbacks_remaining(static_cast<double>(Columns(rows->at(0)).number()));
    return true;
}

/// Each kind has its line, so that one that goes away is seen to.
bool Gauges::refresh_hindrances() {
    const auto rows = store_.query(
        "SELECT hindrance, COUNT(*) FROM catch_ups WHERE hindrance IS NOT NULL GROUP BY hindrance");
    if (!rows) return false;
    std::map<std::string, double> counts;
    for (const Hindrance each : all_hindrances()) counts[std::string(name_of(each))] = 0;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        const std::string hindrance = columns.text();
        counts[hindrance] = static_cast<double>(columns.number());
    }
    telemetry_.metrics.catch_ups_hindered({counts.begin(), counts.end()});
    return true;
}

/// A cause is a class of ours, then what the platform said, which may be anything.
bool Gauges::refresh_parked() {
    const auto rows = store_.query(
        "SELECT sink, CASE SUBSTRING_INDEX(cause, ':', 1) WHEN ? THEN ? WHEN ? THEN ? ELSE 'unusable' END "
        "AS why, COUNT(*) FROM deliveries WHERE state='PARKED' GROUP BY sink, why",
        {std::string(cause_credential), std::string(cause_credential), std::string(cause_cannot_look_up),
         std::string(cause_cannot_look_up)});
    if (!rows) return false;
    std::vector<ParkedKind> kinds;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        ParkedKind kind{columns.text(), columns.text()};
        kind.count = static_cast<double>(columns.number());
        kinds.push_back(std::move(kind));
    }
    telemetry_.metrics.parked(kinds);
    return true;
}

bool Gauges::refresh_breakers() {
    const auto rows = store_.query(
        "SELECT credential, post_probe_at IS NOT NULL, look_probe_at IS NOT NULL FROM credentials WHERE "
        "post_probe_at IS NOT NULL OR look_probe_at IS NOT NULL");
    if (!rows) return false;
    std::vector<OpenBreaker> open;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        const std::string credential = columns.text();
        for (const Call call : {Call::write, Call::read})
            if (columns.number() != 0)
                open.push_back({platform_of(credential), credential, std::string(name_of(call))});
    }
    telemetry_.metrics.breakers(open);
    return true;
}

}  // namespace epilogue
