#include "worker/apply/batch.h"

#include <algorithm>
#include <set>

#include "base/ids.h"
#include "base/text.h"
#include "worker/apply/transition.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/fence.h"
#include "worker/store/partition_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t dead_letter_bytes = 65536;
constexpr std::size_t dead_letter_key_bytes = 1024;
constexpr int max_dead_in_a_row = 10;

DeadLetterRow dead_letter(const Claim& claim, const RecordView& record, std::string reason) {
    DeadLetterRow row;
    row.cluster_id = claim.cluster_id;
    row.topic = claim.key.topic;
    row.partition = claim.key.partition;
    row.offset = record.offset;
    if (record.key.data() != nullptr) row.key = std::string(record.key.substr(0, dead_letter_key_bytes));
    row.reason = std::move(reason);
    row.length = static_cast<std::int64_t>(record.value.size());
    row.sha256 = sha256_hex(record.value);
    row.value = std::string(record.value.substr(0, dead_letter_bytes));
    return row;
}

std::string_view name_of(Schema schema) {
    return schema == Schema::v0 ? "v0" : "v1";
}

}  // namespace

/// One record, decoded outside the transaction.
struct Batch::Item {
    RecordView record;
    ConversationId conversation_id;
    std::optional<Event> event;
    std::string outcome;  ///< of a record without event: ignored | tombstone | dead_letter
    std::string dead_reason;
};

std::vector<Batch::Item> Batch::decode_all(std::span<const RecordView> records) {
    std::vector<Item> items;
    items.reserve(records.size());
    for (const RecordView& record : records) {
        Item item{record, {}, std::nullopt, {}, {}};
        if (record.value.data() == nullptr) {
            item.outcome = "tombstone";
        } else if (const auto fault = key_fault(record.key); !fault.empty()) {
            item.outcome = "dead_letter";
            item.dead_reason = fault;
        } else {
            Decoded decoded = decoder_.decode(record.value, record.marks);
            if (auto* event = std::get_if<Event>(&decoded)) {
                item.conversation_id = normalise_conversation_id(record.key);
                item.event = std::move(*event);
            } else if (auto* poison = std::get_if<Poison>(&decoded)) {
                item.outcome = "dead_letter";
                item.dead_reason = poison->reason;
            } else {
                item.outcome = "ignored";
            }
        }
        items.push_back(std::move(item));
    }
    return items;
}

Result<BatchReport> Batch::apply(Claim& claim, std::span<const RecordView> records) {
    std::vector<Item> items = decode_all(records);
    // Work list of halves, in order; a half that the database refuses for its data is cut again.
    std::vector<std::pair<std::size_t, std::size_t>> spans{{0, items.size()}};
    BatchReport all;
    int dead_in_a_row = 0;
    while (!spans.empty()) {
        const auto [first, count] = spans.back();
        spans.pop_back();
        auto report = apply_items(claim, std::span(items).subspan(first, count));
        if (!report && report.error().remedy == Remedy::poison) {
            if (count > 1) {
                spans.emplace_back(first + count / 2, count - count / 2);
                spans.emplace_back(first, count / 2);
                continue;
            }
            Item& item = items[first];
            if (!item.event || ++dead_in_a_row > max_dead_in_a_row)
                return retryable("the database refuses one record after the other: " + report.error().text,
                                 report.error().code);
            item.event.reset();
            item.outcome = "dead_letter";
            item.dead_reason = "store_" + std::to_string(report.error().code);
            spans.emplace_back(first, count);
            continue;
        }
        if (!report) return Failure(std::move(report).error());
        // Only an event that was taken shows that the database does not refuse them all.
        const auto taken = std::span(items).subspan(first, count);
        if (std::any_of(taken.begin(), taken.end(), [](const Item& item) { return item.event.has_value(); }))
            dead_in_a_row = 0;
        for (const auto& [labels, records_counted] : report->outcomes)
            all.outcomes[labels] += records_counted;
        std::move(report->counted.begin(), report->counted.end(), std::back_inserter(all.counted));
        std::move(report->dead.begin(), report->dead.end(), std::back_inserter(all.dead));
        std::move(report->planned.begin(), report->planned.end(), std::back_inserter(all.planned));
        std::move(report->summaries.begin(), report->summaries.end(), std::back_inserter(all.summaries));
        std::move(report->owed.begin(), report->owed.end(), std::back_inserter(all.owed));
        all.known += report->known;
        all.suspended += report->suspended;
    }
    return all;
}

Result<BatchReport> Batch::apply_items(Claim& claim, std::span<const Item> items) {
    std::set<ConversationId> steered;
    std::set<ConversationId> alive;
    for (const Item& item : items)
        if (item.event) (is_for_watchers(*item.event) ? alive : steered).insert(item.conversation_id);
    return commit(claim, [&](Transaction& transaction, Transition& transition) -> Result<void> {
        // Most conversations have no callback: a mere sign of life costs them no row.
        std::vector<ConversationId> maybe_watched;
        std::set_difference(alive.begin(), alive.end(), steered.begin(), steered.end(),
                            std::back_inserter(maybe_watched));
        TRY(const auto watched, transaction.callbacks().watched_among(maybe_watched));
        std::set<ConversationId> ids = steered;
        ids.insert(watched.begin(), watched.end());
        TRY_VOID(transition.load({ids.begin(), ids.end()}, claim.key.partition));
        for (const Item& item : items) {
            const Instant at = transition.advance_clock(item.record.timestamp);
            const auto due_since = item.record.timestamp > Instant{} ? std::optional(at) : std::nullopt;
            if (item.event) {
                TRY(const Applied applied,
                    transition.apply(*item.event, item.conversation_id, at,
                                     {claim.key.partition, item.record.offset.value, due_since}));
                ++transition.report.outcomes[{std::string(name_of(item.event->schema)),
                                              std::string(epilogue::name_of(applied))}];
                continue;
            }
            ++transition.report.outcomes[{"none", item.outcome}];
            if (!item.dead_reason.empty())
                transition.report.dead.push_back(dead_letter(claim, item.record, item.dead_reason));
        }
        TRY_VOID(transition.write());
        TRY_VOID(transaction.dead_letters().insert(transition.report.dead));
        if (!items.empty()) {
            const RecordView& last = items.back().record;
            transition.partition.next_offset = {last.offset.value + 1};
            transition.partition.last = RecordFingerprint{last.offset, crc32_of(last.value), last.timestamp};
        }
        const auto due = transition.earliest_due();
        transition.next_due = claim.next_due && (!due || *claim.next_due < *due) ? claim.next_due : due;
        transition.has_records = true;
        return {};
    });
}

Result<BatchReport> Batch::tick(Claim& claim, Instant clock, std::optional<NextOffset> caught_up) {
    return commit(claim, [&](Transaction& transaction, Transition& transition) -> Result<void> {
        const int partition = claim.key.partition;
        const Instant now = transition.advance_clock(clock);
        if (caught_up) {
            transition.partition.caught_up_at = now;
            transition.partition.caught_up_offset = caught_up;
        }
        TRY(auto ids, transaction.conversations().due(partition, now, rules_.max_timers));
        // Suspended turns are resumed one by one, once there are too few of them for a mass timeout.
        TRY(const auto suspended, transaction.conversations().suspended(partition, 1));
        if (!suspended.empty()) {
            TRY(const bool mass_timeout, transition.is_mass_timeout(now));
            if (!mass_timeout) ids.push_back(suspended.front());
        }
        std::sort(ids.begin(), ids.end());
        TRY_VOID(transition.load(ids, partition));
        TRY_VOID(transition.tick_all(now, {partition, std::nullopt, now}));
        TRY_VOID(transition.write());
        TRY(transition.next_due, transaction.conversations().next_due(partition));
        constexpr std::chrono::seconds check_suspended_again{1};
        const bool some_suspended = !suspended.empty() || transition.report.suspended > 0;
        if (some_suspended)
            transition.next_due = std::min(transition.next_due.value_or(now + check_suspended_again),
                                           now + check_suspended_again);
        return {};
    });
}

Result<BatchReport> Batch::commit(Claim& claim,
                                  const std::function<Result<void>(Transaction&, Transition&)>& change) {
    Claim moved = claim;
    BatchReport report;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto locked, transaction.partitions().lock(claim.key));
        if (!locked || locked->generation != claim.generation || locked->next_offset != claim.position)
            return fenced("partition " + std::to_string(claim.key.partition));
        TRY(const Instant now, transaction.now());
        Transition transition(transaction, planner_, rules_, std::move(*locked), now);
        TRY_VOID(change(transaction, transition));
        transition.partition.connection_id = transaction.connection_id();
        transition.partition.sequence = claim.sequence + 1;
        moved.last = transition.partition.last;
        moved.anchor = claim.anchor ? claim.anchor : moved.last;
        transition.partition.anchor = moved.anchor;
        TRY_VOID(transaction.partitions().update(claim.key, transition.partition));
        moved.position = transition.partition.next_offset;
        moved.sequence = transition.partition.sequence;
        moved.clock = transition.partition.clock;
        moved.next_due = transition.next_due;
        if (transition.has_records) moved.applied_at = now;
        report = std::move(transition.report);
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.partitions().lock(claim.key));
        if (!row || row->generation != claim.generation)
            return fenced("partition " + std::to_string(claim.key.partition));
        return row->sequence == claim.sequence + 1;
    };
    TRY_VOID(store_.transact(work, is_done));
    claim = std::move(moved);
    return report;
}

}  // namespace epilogue
