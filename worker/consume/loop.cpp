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

constexpr std::chrono::seconds commit_all_every{5};
// A new leader may not know its log's end for a moment.
constexpr std::chrono::seconds believed_short_after{3};
constexpr std::chrono::seconds doubt_ends_after{30};
constexpr std::chrono::seconds no_look_after_failure{10};

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
    const NextOffset position = claimed->claim.position;
    log_info("partition claimed", {{"partition", std::to_string(partition)},
                                   {"position", std::to_string(position.value)},
                                   {"generation", std::to_string(claimed->claim.generation.value)}});
    report(partition, claimed->bearing);
    // A claim that lands after the partition was taken away is not used: its successor claims again.
    if (!lanes_.start(wanted.lane, std::move(claimed->claim))) return;
    if (const auto reading = log_.read_from(partition, position); !reading)
        lanes_.fence(wanted.lane, failed(wanted.lane, reading.error()));
    else
        readiness_.set(partition_name(rules_.topic, partition), "");
}

Result<Claimed> Loop::claim(const ClaimWanted& wanted) {
    const int partition = wanted.lane.partition;
    const PartitionKey key{rules_.group, rules_.topic, partition};
    if (wanted.was_fenced) {
        std::optional<NextOffset> stored;
        TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(const auto row, transaction.partitions().lock(key));
            if (row) stored = row->next_offset;
            return {};
        }));
        if (stored) TRY_VOID(log_.commit_and_wait(partition, *stored));
    }
    auto claimed = claim_partition(store_, log_, key, rules_.owner,
                                   [&](const Bearing&) { return has_been_short(partition); });
    if (claimed) doubts_.erase(partition);
    const bool is_news =
        !claimed && is_held_by_others(claimed.error()) && held_by_others_.insert(partition).second;
    if (is_news) metrics_.group_changed();
    return claimed;
}

bool Loop::has_been_short(int partition) {
    const auto now = rules_.steady();
    auto& doubt = doubts_.try_emplace(partition, Doubt{now, now}).first->second;
    if (now - doubt.last > doubt_ends_after) doubt.since = now;
    doubt.last = now;
    return now - doubt.since >= believed_short_after;
}

/// What became of a log is counted where it is durable.
void Loop::report(int partition, const Bearing& bearing) {
    const bool was_told = held_by_others_.erase(partition) > 0;
    switch (bearing.change) {
        case LogChange::none:
            return;
        case LogChange::gap:
            metrics_.offset_gap(static_cast<double>(bearing.lost));
            break;
        case LogChange::replaced:
            metrics_.log_replaced();
            break;
        case LogChange::group:
            if (!was_told) metrics_.group_changed();
            break;
        case LogChange::added:
            metrics_.partition_added();
            break;
    }
    log_warn("the partition's log is not what it was",
             {{"partition", std::to_string(partition)}, {"why", bearing.why}});
    readiness_.happened(partition_name(rules_.topic, partition), bearing.why);
}

void Loop::on(LookDue& look) {
    const int partition = look.lane.partition;
    const Claim& claim = look.claim;
    if (rules_.steady() < look_not_before_) {
        lanes_.done(look.lane, look.claim);
        return;
    }
    const StoredPosition stored{claim.cluster_id, claim.position, std::nullopt, claim.anchor};
    const auto sight = look_at(log_, partition, stored);
    if (!sight) {
        log_debug(sight.error().text);  // the poll thread says that no broker answers
        look_not_before_ = rules_.steady() + no_look_after_failure;
        lanes_.done(look.lane, look.claim);
        return;
    }
    // What retention removes meanwhile may have been fetched: the client says when it was not.
    const bool is_same = take_bearing(stored, *sight).change != LogChange::replaced;
    if (is_same) {
        look.claim.anchor = look.claim.last;
        lanes_.done(look.lane, look.claim);
        return;
    }
    log_.stop_reading(partition);
    lanes_.claim_again(look.lane);
}

void Loop::on(RecordsReady& ready) {
    const std::vector<RecordView> views(ready.records.begin(), ready.records.end());
    if (mutant(Mutant::offset_before_state))
        log_.commit({{ready.lane.partition, {ready.records.back().offset.value + 1}}});
    const auto applied = batch_.apply(ready.claim, views);
    if (applied) {
        lanes_.done(ready.lane, ready.claim);
        readiness_.set(partition_name(rules_.topic, ready.lane.partition), "");
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
    const auto ticked = batch_.tick(timer.claim, (*clock)->at, (*clock)->caught_up);
    if (ticked) {
        lanes_.done(timer.lane, timer.claim);
        report(*ticked);
    } else if (is_fenced(ticked.error())) {
        failed(timer.lane, ticked.error());
    } else {
        lanes_.rest(timer.lane, failed(timer.lane, ticked.error()));
    }
}

Result<std::optional<Loop::Clock>> Loop::clock_of(const TimerNear& timer) {
    const Claim& claim = timer.claim;
    if (claim.clock && claim.next_due && *claim.next_due <= *claim.clock)
        return std::optional(Clock{*claim.clock, std::nullopt});
    if (!timer.drained) return std::optional<Clock>();
    Instant now{};
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(now, transaction.now());
        return {};
    }));
    if (!timer.heartbeat && *claim.next_due > now) return std::optional<Clock>();
    if (!batch_.may_follow_database(claim, now)) return std::optional<Clock>();
    TRY(const Watermarks marks, log_.watermarks(timer.lane.partition));
    // The log may end with control records, which no consumer is given: then the client's own end says where.
    const std::int64_t position = std::max(claim.position.value, timer.end_seen.value_or(NextOffset{}).value);
    const bool caught_up = marks.high <= position || mutant(Mutant::timer_stepped_while_lagging);
    return caught_up ? std::optional(Clock{now, NextOffset{marks.high}}) : std::nullopt;
}

void Loop::report(const BatchReport& report) {
    for (const auto& [labels, count] : report.outcomes) {
        metrics_.events(labels.first, labels.second, static_cast<double>(count));
        if (labels.second == "repeat") metrics_.suppressed("event", static_cast<double>(count));
    }
    if (report.suspended > 0)
        log_warn("silences held back: so many at once are one broken relay",
                 {{"turns", std::to_string(report.suspended)}});
    for (const DeadLetterRow& letter : report.dead) {
        metrics_.dead_letter(letter.reason);
        rules_.dead_letter(letter);
    }
    hand_on(report, metrics_, outbox_);
    for (const TurnId& turn : report.owed) rules_.owed(turn);
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
    readiness_.set(partition_name(rules_.topic, lane.partition), error.text);
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
