#include "worker/consume/loop.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/io/log.h"
#include "base/mutant.h"
#include "worker/consume/dispatch_report.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/fence.h"
#include "worker/store/partition_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds stalls_after{60};
/// A fenced worker claims again after this and a random part of the spread.
constexpr std::chrono::milliseconds fenced_for{500};
constexpr std::chrono::milliseconds fenced_spread{2500};

}  // namespace

void Loop::run(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds wait{100};
    while (!stop.stop_requested()) turn(wait, stop);
}

bool Loop::is_turning() const {
    return rules_.steady() - last_turn_.load() < stalls_after;
}

void Loop::turn(std::chrono::milliseconds wait, const std::stop_token& stop) {
    last_turn_ = rules_.steady();
    PartitionWork work = source_.queues.next(wait, stop);
    std::visit([this](auto& next) { on(next); }, work);
    source_.queues.release(work);
    commit_offsets();
}

void Loop::on(NeedsClaim& unclaimed) {
    const int partition = unclaimed.assignment.partition;
    auto claimed = claim(unclaimed);
    if (!claimed) {
        source_.queues.back_off(unclaimed.assignment, backoff_after(unclaimed.assignment, claimed.error()));
        return;
    }
    const NextOffset position = claimed->claim.position;
    log_info("partition claimed", {{"partition", partition},
                                   {"position", position.value},
                                   {"generation", claimed->claim.generation.value}});
    report(partition, claimed->check);
    // When the partition was revoked meanwhile the claim is not used; the next owner makes its own.
    if (!source_.queues.start(unclaimed.assignment, std::move(claimed->claim))) return;
    if (const auto reading = source_.log.read_from(partition, position); !reading)
        source_.queues.fence(unclaimed.assignment, backoff_after(unclaimed.assignment, reading.error()));
    else
        telemetry_.readiness.set(partition_name(rules_.topic, partition), "");
}

Result<Claimed> Loop::claim(const NeedsClaim& unclaimed) {
    const int partition = unclaimed.assignment.partition;
    const PartitionKey key{rules_.group, rules_.topic, partition};
    if (unclaimed.was_fenced) {
        std::optional<NextOffset> stored;
        TRY_VOID(target_.store.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(const auto row, transaction.partitions().lock(key));
            if (row) stored = row->next_offset;
            return {};
        }));
        if (stored) TRY_VOID(source_.log.commit_and_wait(partition, *stored));
    }
    auto claimed = claim_partition(target_.store, source_.log, key, rules_.owner, [&](const PositionCheck&) {
        return source_.troubles.is_short_for_long(partition, rules_.steady());
    });
    const bool is_first =
        !claimed && is_owned_elsewhere(claimed.error()) && source_.troubles.owned_elsewhere(partition);
    if (is_first) telemetry_.metrics.group_changed();
    return claimed;
}

/// Counts the change of a log, which the claim has made durable, and names it in /readyz.
void Loop::report(int partition, const PositionCheck& check) {
    const bool was_counted = source_.troubles.claimed(partition);
    switch (check.change) {
        case LogChange::none:
            return;
        case LogChange::gap:
            telemetry_.metrics.offset_gap(static_cast<double>(check.lost));
            break;
        case LogChange::replaced:
            telemetry_.metrics.log_replaced();
            break;
        case LogChange::group:
            if (!was_counted) telemetry_.metrics.group_changed();
            break;
        case LogChange::added:
            telemetry_.metrics.partition_added();
            break;
    }
    log_warn("the partition's log is not what it was", {{"partition", partition}, {"why", check.why}});
    telemetry_.readiness.incident(partition_name(rules_.topic, partition), check.why);
}

void Loop::on(VerifyLogDue& due) {
    const int partition = due.assignment.partition;
    const Claim& claim = due.claim;
    if (!source_.troubles.may_verify(rules_.steady())) {
        source_.queues.done(due.assignment, due.claim);
        return;
    }
    const StoredPosition stored{claim.cluster_id, claim.position, std::nullopt, claim.anchor, claim.topic_id};
    const auto state = inspect_log(source_.log, partition, stored);
    if (!state) {
        log_debug(state.error().text);  // the poll thread reports an unreachable broker
        source_.troubles.could_not_verify(rules_.steady());
        source_.queues.done(due.assignment, due.claim);
        return;
    }
    // A gap is no reason to claim again: the removed records may have been fetched, and the client reports a
    // position that is out of range.
    const bool is_same = check_position(stored, *state).change != LogChange::replaced;
    if (is_same) {
        due.claim.anchor = due.claim.last;
        source_.queues.done(due.assignment, due.claim);
        return;
    }
    source_.log.stop_reading(partition);
    source_.queues.reclaim(due.assignment);
}

void Loop::on(BatchReady& batch) {
    const std::vector<RecordView> views(batch.records.begin(), batch.records.end());
    if (mutant(Mutant::offset_before_state))
        source_.log.commit({{batch.assignment.partition, {batch.records.back().offset.value + 1}}});
    const auto applied = target_.batch.apply(batch.claim, views);
    if (applied) {
        source_.queues.done(batch.assignment, batch.claim);
        works_again(batch.assignment);
        report(*applied);
    } else if (is_fenced(applied.error())) {
        on_fenced(batch.assignment);
    } else {
        // The parts of the batch that were stored before the failure have moved the claim on.
        std::erase_if(batch.records,
                      [&](const Record& r) { return r.offset.value < batch.claim.position.value; });
        source_.queues.done(batch.assignment, batch.claim);
        source_.queues.requeue(batch.assignment, std::move(batch.records),
                               backoff_after(batch.assignment, applied.error()));
    }
}

void Loop::on(TimersDue& timers) {
    const auto clock = clock_of(timers);
    if (!clock) {
        source_.queues.back_off(timers.assignment, backoff_after(timers.assignment, clock.error()));
        return;
    }
    if (!*clock) {
        source_.queues.done(timers.assignment, timers.claim);
        if (timers.queue_is_empty) works_again(timers.assignment);  // the database has answered
        return;
    }
    const auto ticked = target_.batch.tick(timers.claim, (*clock)->at, (*clock)->caught_up);
    if (ticked) {
        source_.queues.done(timers.assignment, timers.claim);
        works_again(timers.assignment);
        report(*ticked);
    } else if (is_fenced(ticked.error())) {
        on_fenced(timers.assignment);
    } else {
        source_.queues.back_off(timers.assignment, backoff_after(timers.assignment, ticked.error()));
    }
}

Result<std::optional<Loop::Clock>> Loop::clock_of(const TimersDue& timers) {
    const Claim& claim = timers.claim;
    if (claim.clock && claim.next_due && *claim.next_due <= *claim.clock)
        return std::optional(Clock{*claim.clock, std::nullopt});
    if (!timers.queue_is_empty) return std::optional<Clock>();
    Instant now{};
    TRY_VOID(target_.store.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(now, transaction.now());
        return {};
    }));
    if (!timers.heartbeat && *claim.next_due > now) return std::optional<Clock>();
    if (!target_.batch.may_follow_database(claim, now)) return std::optional<Clock>();
    TRY(const Watermarks marks, source_.log.watermarks(timers.assignment.partition));
    // The log may end with control records, which no consumer is given; the end that the client saw is behind
    // them.
    const std::int64_t position =
        std::max(claim.position.value, timers.end_seen.value_or(NextOffset{}).value);
    const bool caught_up = marks.high <= position || mutant(Mutant::timer_stepped_while_lagging);
    return caught_up ? std::optional(Clock{now, NextOffset{marks.high}}) : std::nullopt;
}

void Loop::report(const BatchReport& report) {
    for (const auto& [labels, count] : report.outcomes) {
        telemetry_.metrics.events(labels.first, labels.second, static_cast<double>(count));
        if (labels.second == "repeat") telemetry_.metrics.suppressed("event", static_cast<double>(count));
    }
    if (report.suspended > 0)
        log_warn("silences held back: so many at once are one broken relay", {{"turns", report.suspended}});
    for (const DeadLetterRow& letter : report.dead) {
        telemetry_.metrics.dead_letter(letter.reason);
        follow_ups_.dead_letter(letter);
    }
    dispatch_report(report, telemetry_.metrics, follow_ups_.outbox);
    for (const TurnId& turn : report.owed) follow_ups_.summary_owed(turn);
}

/// Another worker has claimed the partition: everything in memory is dropped, and the loop asks for a new
/// claim only later, so that it does not take the partition back at once.
void Loop::on_fenced(const AssignmentId& assignment) {
    telemetry_.metrics.fenced();
    log_warn("fenced: another worker claimed the partition", {{"partition", assignment.partition}});
    source_.log.stop_reading(assignment.partition);
    const auto jitter =
        std::chrono::duration_cast<std::chrono::milliseconds>(fenced_spread * rules_.random01());
    source_.queues.fence(assignment, fenced_for + jitter);
}

/// What an error before has put into /readyz is over.
void Loop::works_again(const AssignmentId& assignment) {
    telemetry_.readiness.set(partition_name(rules_.topic, assignment.partition), "");
    source_.troubles.works_again(assignment.partition);
}

/// Names the error in /readyz; returns for how long the partition is given no work.
std::chrono::milliseconds Loop::backoff_after(const AssignmentId& assignment, const Error& error) {
    telemetry_.readiness.set(partition_name(rules_.topic, assignment.partition), error.text);
    constexpr std::chrono::seconds longest{10};
    return full_jitter(source_.troubles.failed(assignment.partition), rules_.random01(),
                       std::chrono::milliseconds{200}, longest);
}

void Loop::commit_offsets() {
    source_.queues.with_committable_offsets([this](const auto& positions) { source_.log.commit(positions); });
}

}  // namespace epilogue
