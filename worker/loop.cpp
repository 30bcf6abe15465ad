#include "worker/loop.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/io/log.h"
#include "base/mutant.h"
#include "worker/claim.h"
#include "worker/fence.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds commit_all_every{5};

std::string component(int partition) {
    return "partition " + std::to_string(partition);
}

}  // namespace

void Loop::run(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds wait{100};
    while (!stop.stop_requested()) turn(wait, stop);
}

void Loop::turn(std::chrono::milliseconds wait, const std::stop_token& stop) {
    last_turn_ = std::chrono::steady_clock::now();
    LaneWork work = lanes_.next(wait, stop);
    std::visit([this](auto& found) { on(found); }, work);
    let_offsets_follow();
}

void Loop::on(ClaimWanted& wanted) {
    const int partition = wanted.lane.partition;
    auto claimed = claim(wanted);
    if (!claimed) {
        lanes_.rest(wanted.lane, failed(wanted.lane, claimed.error()));
        return;
    }
    const NextOffset position = claimed->position;
    log_info("partition claimed", {{"partition", std::to_string(partition)},
                                   {"position", std::to_string(position.value)},
                                   {"generation", std::to_string(claimed->generation.value)}});
    // A claim that lands after the partition was taken away is not used: its successor claims again.
    if (!lanes_.start(wanted.lane, std::move(*claimed))) return;
    if (const auto reading = log_.read_from(partition, position); !reading)
        lanes_.fence(wanted.lane, failed(wanted.lane, reading.error()));
    else
        readiness_.set(component(partition), "");
}

Result<Claim> Loop::claim(const ClaimWanted& wanted) {
    const int partition = wanted.lane.partition;
    const PartitionKey key{rules_.group, rules_.topic, partition};
    if (wanted.was_fenced) {
        std::optional<NextOffset> stored;
        TRY_VOID(store_.read([&](Transaction& transaction) -> Result<void> {
            TRY(const auto row, transaction.lock_partition(key));
            if (row) stored = row->next_offset;
            return {};
        }));
        if (stored) TRY_VOID(log_.commit_and_wait(partition, *stored));
    }
    return claim_partition(store_, key, log_.cluster_id(), rules_.owner,
                           [&] { return log_.first_position(partition); });
}

void Loop::on(RecordsReady& ready) {
    const std::vector<RecordView> views(ready.records.begin(), ready.records.end());
    if (mutant(Mutant::offset_before_state))
        log_.commit({{ready.lane.partition, {ready.records.back().offset.value + 1}}});
    const auto applied = batch_.apply(ready.claim, views);
    if (applied) {
        lanes_.done(ready.lane, ready.claim);
        readiness_.set(component(ready.lane.partition), "");
        failures_.erase(ready.lane.partition);
        report(*applied);
    } else if (is_fenced(applied.error())) {
        failed(ready.lane, applied.error());
    } else {
        // Halves that were stored before the failure have moved the claim on.
        std::erase_if(ready.records,
                      [&](const Record& r) { return r.offset.value < ready.claim.position.value; });
        lanes_.done(ready.lane, ready.claim);
        lanes_.put_back(ready.lane, std::move(ready.records), failed(ready.lane, applied.error()));
    }
}

void Loop::on(TimerNear& timer) {
    const auto clock = clock_of(timer);
    if (!clock) {
        lanes_.rest(timer.lane, failed(timer.lane, clock.error()));
        return;
    }
    if (!*clock) {
        lanes_.done(timer.lane, timer.claim);
        return;
    }
    const bool caught_up = **clock != timer.claim.clock;
    const auto ticked = batch_.tick(timer.claim, **clock, caught_up);
    if (ticked) {
        lanes_.done(timer.lane, timer.claim);
        report(*ticked);
    } else if (is_fenced(ticked.error())) {
        failed(timer.lane, ticked.error());
    } else {
        lanes_.rest(timer.lane, failed(timer.lane, ticked.error()));
    }
}

Result<std::optional<Instant>> Loop::clock_of(const TimerNear& timer) {
    const Claim& claim = timer.claim;
    if (claim.clock && claim.next_due && *claim.next_due <= *claim.clock) return claim.clock;
    if (!timer.drained) return std::optional<Instant>();
    Instant now{};
    TRY_VOID(store_.read([&](Transaction& transaction) -> Result<void> {
        TRY(now, transaction.now());
        return {};
    }));
    if (!timer.heartbeat && *claim.next_due > now) return std::optional<Instant>();
    if (!batch_.may_follow_database(claim, now)) return std::optional<Instant>();
    TRY(const Watermarks marks, log_.watermarks(timer.lane.partition));
    // The log may end with control records, which no consumer is given: then the client's own end says where.
    const std::int64_t position = std::max(claim.position.value, timer.end_seen.value_or(NextOffset{}).value);
    if (mutant(Mutant::timer_stepped_while_lagging)) return std::optional(now);
    return marks.high <= position ? std::optional(now) : std::nullopt;
}

void Loop::report(const BatchReport& report) {
    for (const auto& [labels, count] : report.outcomes) {
        metrics_.events(labels.first, labels.second, static_cast<double>(count));
        if (labels.second == "repeat") metrics_.suppressed("event", static_cast<double>(count));
    }
    for (const Verdict verdict : report.counted) metrics_.transition(name_of(verdict));
    if (report.held > 0)
        log_warn("silences held back: so many at once are one broken relay",
                 {{"turns", std::to_string(report.held)}});
    for (const DeadLetterRow& letter : report.dead) {
        metrics_.dead_letter(letter.reason);
        rules_.dead_letter(letter);
    }
    for (const std::string& source : report.summaries) metrics_.summary(source, "made");
    if (report.known > 0) metrics_.suppressed("ledger", static_cast<double>(report.known));
    for (const auto& planned : report.planned) {
        metrics_.delivery_entered(planned.sink, name_of(DeliveryState::planned));
        outbox_.add({planned.delivery_id, planned.sink, false});
    }
}

/// Says why, and how long to leave the lane alone.
std::chrono::milliseconds Loop::failed(const LaneId& lane, const Error& error) {
    if (is_fenced(error)) {
        metrics_.fenced();
        log_warn("fenced: another worker claimed the partition",
                 {{"partition", std::to_string(lane.partition)}});
        log_.stop_reading(lane.partition);
        constexpr std::chrono::milliseconds at_least{500};
        constexpr std::chrono::milliseconds spread{2500};
        const auto jitter = std::chrono::duration_cast<std::chrono::milliseconds>(spread * rules_.random01());
        lanes_.fence(lane, at_least + jitter);
        return {};
    }
    readiness_.set(component(lane.partition), error.text);
    constexpr std::chrono::seconds longest{10};
    return full_jitter(++failures_[lane.partition], rules_.random01(), std::chrono::milliseconds{200},
                       longest);
}

void Loop::let_offsets_follow() {
    const auto now = rules_.steady();
    const bool all = now - committed_all_at_ > commit_all_every;
    if (all) committed_all_at_ = now;
    lanes_.commit_with(all, [this](const auto& positions) { log_.commit(positions); });
}

}  // namespace epilogue
