#include "worker/mysql/gap_rows.h"

#include <fmt/format.h>

#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

/// So many callbacks are looked at together, most of which may be done long since.
constexpr std::size_t looked_at_once = 5000;

/// Joins conversations to the callbacks p, and leaves those that may be concerned: its partition is the first
/// question mark. A conversation of which no record was read has none, a guessed one, or no row at all.
constexpr std::string_view may_be_concerned =
    "LEFT JOIN conversations c ON c.conversation_id=p.conversation_id "
    "WHERE p.phase IN ('watching','dormant') AND (c.conversation_id IS NULL OR c.partition_id IN (?,-1) "
    "OR c.partition_guessed=1)";

}  // namespace

Result<void> MysqlGapRows::insert(const GapRow& gap) {
    TRY_VOID(session_.execute(
        "INSERT INTO log_gaps (topic, partition_id, from_offset, to_offset, why, noticed_at, asked_until, "
        "last_callback) SELECT ?,?,?,?,?,?,0,COALESCE(MAX(callback_id),0) FROM callback_progress",
        {gap.topic, std::int64_t{gap.partition}, gap.from.value,
         gap.to ? SqlValue(gap.to->value) : SqlValue(nullptr), gap.why, gap.noticed_at}));
    return {};
}

Result<std::optional<GapRow>> MysqlGapRows::lock_next() {
    TRY(const auto rows,
        session_.query("SELECT gap_id, topic, partition_id, from_offset, to_offset, why, noticed_at, "
                       "asked_until, last_callback, asked, without_server, remaining FROM log_gaps WHERE "
                       "done=0 ORDER BY gap_id LIMIT 1 FOR UPDATE SKIP LOCKED"));
    if (rows.empty()) return std::optional<GapRow>();
    Columns columns(rows[0]);
    GapRow gap;
    gap.id = columns.number();
    gap.topic = columns.text();
    gap.partition = static_cast<int>(columns.number());
    gap.from = {columns.number()};
    if (const auto to = columns.number_or_null()) gap.to = NextOffset{*to};
    gap.why = columns.text();
    gap.noticed_at = columns.instant().value_or(Instant{});
    gap.asked_until = {columns.number()};
    gap.last_callback = {columns.number()};
    gap.asked = columns.number();
    gap.without_server = columns.number();
    gap.remaining = columns.number_or_null();
    return std::optional(std::move(gap));
}

Result<GapChunk> MysqlGapRows::next_chunk(const GapRow& gap, std::size_t limit) {
    const std::string some = fmt::format(
        "(SELECT callback_id, conversation_id, phase FROM callback_progress WHERE callback_id>? "
        "AND callback_id<=? ORDER BY callback_id LIMIT {}) p ",
        looked_at_once);
    GapChunk chunk;
    TRY(const auto looked, session_.query("SELECT MAX(p.callback_id) FROM " + some,
                                          {gap.asked_until.value, gap.last_callback.value}));
    chunk.looked_until = {Columns(looked.at(0)).number_or_null().value_or(gap.last_callback.value)};
    TRY(const auto rows,
        session_.query(fmt::format("SELECT p.conversation_id, p.callback_id FROM {} {} ORDER BY "
                                   "p.callback_id LIMIT {}",
                                   some, may_be_concerned, limit),
                       {gap.asked_until.value, gap.last_callback.value, std::int64_t{gap.partition}}));
    for (const SqlRow& row : rows) {
        Columns columns(row);
        chunk.conversations.push_back(columns.id<ConversationId>());
        if (chunk.conversations.size() == limit) chunk.looked_until = {columns.number()};
    }
    return chunk;
}

Result<std::int64_t> MysqlGapRows::count_remaining(const GapRow& gap) {
    TRY(const auto rows,
        session_.query(fmt::format("SELECT COUNT(*) FROM callback_progress p {} AND p.callback_id>? AND "
                                   "p.callback_id<=?",
                                   may_be_concerned),
                       {std::int64_t{gap.partition}, gap.asked_until.value, gap.last_callback.value}));
    return Columns(rows.at(0)).number();
}

Result<void> MysqlGapRows::update(const GapRow& gap) {
    TRY_VOID(session_.execute(
        "UPDATE log_gaps SET asked_until=?, asked=?, without_server=?, remaining=?, done=? WHERE gap_id=?",
        {gap.asked_until.value, gap.asked, gap.without_server,
         gap.remaining ? SqlValue(*gap.remaining) : SqlValue(nullptr), std::int64_t{gap.is_done}, gap.id}));
    return {};
}

}  // namespace epilogue
