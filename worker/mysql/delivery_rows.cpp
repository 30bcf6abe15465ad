#include "worker/mysql/delivery_rows.h"

#include <span>

#include "base/ids.h"
#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"
#include "worker/mysql/delivery_select.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr const char* delivery_columns =
    "delivery_id, callback_id, turn_key, conversation_id, sink, target, verdict, state, attempt, lookups, "
    "cause, remote_id, "
    "remote_url, body, owner, generation, lease_until, next_attempt_at, intent_at, sent_at, heal_due_at, "
    "created_at, "
    "source_partition, source_offset, event_at, credential, rate_window, crashes, look_failures, "
    "unusable_looks";

DeliveryRow delivery_row(const SqlRow& values) {
    Columns columns(values);
    DeliveryRow row;
    row.id = columns.id<DeliveryId>();
    row.callback_id = {columns.number()};
    row.turn_key = columns.id<TurnKey>();
    row.conversation_id = columns.id<ConversationId>();
    row.sink = columns.text();
    row.target = columns.text();
    row.verdict = verdict_named(columns.text()).value_or(Verdict::finished);
    row.progress.state = delivery_state_named(columns.text()).value_or(DeliveryState::parked);
    row.progress.attempt = static_cast<int>(columns.number());
    row.progress.lookups = static_cast<int>(columns.number());
    row.progress.cause = columns.text();
    row.progress.remote_id = columns.text();
    row.progress.remote_url = columns.text();
    row.body = columns.text();
    row.body_is_stored = !row.body.empty();
    row.owner = columns.text();
    row.generation = {columns.number()};
    row.lease_until = columns.instant();
    row.next_attempt_at = columns.instant();
    row.intent_at = columns.instant();
    row.sent_at = columns.instant();
    row.dedup_due_at = columns.instant();
    row.created_at = columns.instant().value_or(Instant{});
    if (const auto partition = columns.number_or_null()) row.source_partition = static_cast<int>(*partition);
    row.source_offset = columns.number_or_null();
    row.event_at = columns.instant();
    row.credential = columns.text();
    row.rate_window = columns.text();
    row.crashes = static_cast<int>(columns.number());
    row.progress.look_failures = static_cast<int>(columns.number());
    row.progress.unusable_looks = static_cast<int>(columns.number());
    return row;
}

}  // namespace

Result<std::vector<DeliveryId>> MysqlDeliveryRows::insert(const std::vector<DeliveryRow>& rows) {
    std::vector<DeliveryId> ids;
    for (const DeliveryRow& row : rows) ids.push_back(row.id);
    std::vector<DeliveryId> fresh = ids;
    // A transaction that plans a turn has locked its conversation: no other adds any between these
    // statements.
    TRY(const auto known,
        first_column_among(session_, "SELECT delivery_id FROM deliveries WHERE delivery_id", ids));
    for (const DeliveryId& id : known) std::erase(fresh, id);
    TRY_VOID(in_chunks(rows.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        for (const DeliveryRow& row : std::span(rows).subspan(first, count))
            values.insert(
                values.end(),
                {row.id, row.callback_id.value, row.turn_key, row.conversation_id, row.sink, row.target,
                 std::string(name_of(row.verdict)), std::string(name_of(row.progress.state)),
                 row.source_partition ? SqlValue(std::int64_t{*row.source_partition}) : SqlValue(nullptr),
                 row.source_offset ? SqlValue(*row.source_offset) : SqlValue(nullptr),
                 sql_value(row.event_at), sql_value(row.next_attempt_at)});
        TRY_VOID(session_.execute(
            "INSERT INTO deliveries (delivery_id, callback_id, turn_key, conversation_id, sink, target, "
            "verdict, state, source_partition, source_offset, event_at, next_attempt_at, created_at) "
            "VALUES " +
                repeated("(?,?,?,?,?,?,?,?,?,?,?,COALESCE(?,UTC_TIMESTAMP(6)),UTC_TIMESTAMP(6))", count) +
                " ON DUPLICATE KEY UPDATE generation=generation",
            values));
        return {};
    }));
    return fresh;
}

Result<std::vector<DeliveryRow>> deliveries_where(MysqlSession& session, const std::string& index,
                                                  const std::string& condition,
                                                  const std::vector<SqlValue>& values) {
    TRY(const auto rows, session.query(std::string("SELECT ") + delivery_columns + " FROM " +
                                           deliveries_by(index) + " WHERE " + condition,
                                       values));
    std::vector<DeliveryRow> deliveries;
    for (const SqlRow& row : rows) deliveries.push_back(delivery_row(row));
    return deliveries;
}

Result<std::vector<DueDelivery>> due_deliveries_where(MysqlSession& session, const std::string& index,
                                                      const std::string& condition,
                                                      const std::vector<SqlValue>& values) {
    TRY(const auto rows,
        session.query("SELECT delivery_id, sink FROM " + deliveries_by(index) + " WHERE " + condition,
                      values));
    std::vector<DueDelivery> due;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        DueDelivery& one = due.emplace_back();
        one.id = columns.id<DeliveryId>();
        one.sink = columns.text();
    }
    return due;
}

Result<std::optional<DeliveryRow>> MysqlDeliveryRows::lock(const DeliveryId& id) {
    TRY(const auto rows,
        session_.query(std::string("SELECT ") + delivery_columns + ", UTC_TIMESTAMP(6) FROM " +
                           deliveries_by("PRIMARY") + " WHERE delivery_id=? FOR UPDATE",
                       {id}));
    if (rows.empty()) return std::optional<DeliveryRow>();
    now_ = parse_instant(rows[0].back().value_or(""));
    return std::optional(delivery_row(rows[0]));
}

Result<std::vector<DeliveryRow>> MysqlDeliveryRows::lock_of(const TurnId& turn) {
    return deliveries_where(session_, "ix_deliveries_conversation",
                            "conversation_id=? AND turn_key=? ORDER BY ordinal FOR UPDATE",
                            {turn.conversation_id, turn.turn_key});
}

Result<void> MysqlDeliveryRows::update(const DeliveryRow& row) {
    std::vector<SqlValue> values{std::string(name_of(row.progress.state)),
                                 std::int64_t{row.progress.attempt},
                                 std::int64_t{row.progress.lookups},
                                 sql_value_or_null(row.progress.cause),
                                 sql_value_or_null(row.progress.remote_id),
                                 sql_value_or_null(row.progress.remote_url),
                                 sql_value_or_null(row.owner),
                                 row.generation.value,
                                 sql_value(row.lease_until),
                                 sql_value(row.next_attempt_at),
                                 sql_value(row.intent_at),
                                 sql_value(row.sent_at),
                                 sql_value(row.dedup_due_at),
                                 sql_value_or_null(row.credential),
                                 sql_value_or_null(row.rate_window),
                                 std::int64_t{row.crashes},
                                 std::int64_t{row.progress.look_failures},
                                 std::int64_t{row.progress.unusable_looks}};
    const bool has_new_body = !row.body.empty() && !row.body_is_stored;
    if (has_new_body) values.insert(values.end(), {row.body, sha256_hex(row.body)});
    values.emplace_back(row.id);
    TRY_VOID(session_.execute(
        std::string(
            "UPDATE deliveries SET state=?, attempt=?, lookups=?, cause=?, remote_id=?, remote_url=?, "
            "owner=?, generation=?, lease_until=?, next_attempt_at=?, intent_at=?, sent_at=?, "
            "heal_due_at=?, credential=?, rate_window=?, crashes=?, look_failures=?, "
            "unusable_looks=?") +
            (has_new_body ? ", body=?, body_sha256=?" : "") + " WHERE delivery_id=?",
        values));
    return {};
}

Result<bool> MysqlDeliveryRows::has_older_open(const DeliveryRow& row) {
    TRY(const auto rows,
        session_.query(
            std::string(
                "SELECT 1 FROM deliveries e JOIN deliveries d ON d.delivery_id=? WHERE e.callback_id=? AND "
                "e.ordinal<d.ordinal AND e.state IN ") +
                open_states + " LIMIT 1",
            {row.id, row.callback_id.value}));
    return !rows.empty();
}

Result<std::vector<SiblingDelivery>> MysqlDeliveryRows::siblings(const DeliveryRow& row) {
    TRY(const auto rows,
        session_.query("SELECT e.delivery_id, e.ordinal>d.ordinal, IF(e.state='SENT',NULL,e.lease_until) "
                       "FROM deliveries e JOIN deliveries d ON d.delivery_id=? "
                       "WHERE e.callback_id=? AND e.delivery_id<>? AND "
                       "(e.ordinal>d.ordinal OR (e.state<>'SENT' AND e.lease_until>UTC_TIMESTAMP(6))) "
                       "ORDER BY e.ordinal",
                       {row.id, row.callback_id.value, row.id}));
    std::vector<SiblingDelivery> siblings;
    for (const SqlRow& values : rows) {
        Columns columns(values);
        SiblingDelivery sibling;
        sibling.id = columns.id<DeliveryId>();
        sibling.is_newer = columns.number() != 0;
        sibling.held_until = columns.instant();
        siblings.push_back(std::move(sibling));
    }
    return siblings;
}

Result<bool> MysqlDeliveryRows::exists_to(const TurnId& turn, const std::string& sink,
                                          const std::string& target) {
    TRY(const auto rows,
        session_.query(
            "SELECT 1 FROM deliveries WHERE conversation_id=? AND turn_key=? AND sink=? AND target=? "
            "LIMIT 1 LOCK IN SHARE MODE",
            {turn.conversation_id, turn.turn_key, sink, target}));
    return !rows.empty();
}

Result<std::vector<DueDelivery>> MysqlDeliveryRows::due(std::size_t limit) {
    return due_deliveries_where(session_, "ix_deliveries_due",
                                "state IN " + open_states + " AND next_attempt_at<=UTC_TIMESTAMP(6) AND " +
                                    is_free + " AND " + is_first_of_callback + " ORDER BY ordinal LIMIT " +
                                    std::to_string(limit),
                                {});
}

Result<std::vector<DueDelivery>> MysqlDeliveryRows::due_dedups(std::size_t limit) {
    return due_deliveries_where(session_, "ix_deliveries_heal",
                                "state='SENT' AND heal_due_at<=UTC_TIMESTAMP(6) AND " + is_free +
                                    " ORDER BY heal_due_at LIMIT " + std::to_string(limit),
                                {});
}

}  // namespace epilogue
