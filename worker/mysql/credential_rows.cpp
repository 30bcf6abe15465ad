#include "worker/mysql/credential_rows.h"

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"
#include "worker/mysql/delivery_select.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {
namespace {

constexpr const char* credential_index = "ix_deliveries_credential";
constexpr const char* breaker_columns =
    "post_failures, post_place, post_since, post_probe_at, look_failures, look_place, look_since, "
    "look_probe_at";
const std::string parked_for_credential = "state='PARKED' AND cause LIKE 'credential%'";

}  // namespace

Result<CredentialRow> MysqlCredentialRows::credential(const std::string& name, const char* lock) {
    TRY(const auto rows,
        session_.query("SELECT parked_since, cause, probe_at, unsettled, " + std::string(breaker_columns) +
                           " FROM credentials WHERE credential=?" + lock,
                       {name}));
    CredentialRow row;
    if (rows.empty()) return row;
    Columns columns(rows[0]);
    row.parked_since = columns.instant();
    row.cause = columns.text();
    row.probe_at = columns.instant();
    row.unsettled = columns.number() != 0;
    for (Breaker* breaker : {&row.posts, &row.look_ups}) {
        breaker->failures = static_cast<int>(columns.number());
        breaker->place = columns.text();
        breaker->since = columns.instant();
        breaker->probe_at = columns.instant();
    }
    return row;
}

Result<CredentialRow> MysqlCredentialRows::read(const std::string& name) {
    return credential(name, "");
}

Result<CredentialRow> MysqlCredentialRows::lock(const std::string& name) {
    TRY_VOID(session_.execute(
        "INSERT INTO credentials (credential) VALUES (?) ON DUPLICATE KEY UPDATE credential=credential",
        {name}));
    return credential(name, " FOR UPDATE");
}

Result<void> MysqlCredentialRows::update(const std::string& name, const CredentialRow& row) {
    TRY_VOID(session_.execute(
        "UPDATE credentials SET parked_since=?, cause=?, probe_at=?, unsettled=?, post_failures=?, "
        "post_place=?, post_since=?, post_probe_at=?, look_failures=?, look_place=?, look_since=?, "
        "look_probe_at=? WHERE credential=?",
        {sql_value(row.parked_since), sql_value_or_null(row.cause), sql_value(row.probe_at),
         std::int64_t{row.unsettled}, std::int64_t{row.posts.failures}, sql_value_or_null(row.posts.place),
         sql_value(row.posts.since), sql_value(row.posts.probe_at), std::int64_t{row.look_ups.failures},
         sql_value_or_null(row.look_ups.place), sql_value(row.look_ups.since),
         sql_value(row.look_ups.probe_at), name}));
    return {};
}

Result<std::vector<std::string>> MysqlCredentialRows::unsettled(std::size_t limit) {
    return first_column(
        session_, "SELECT credential FROM credentials WHERE unsettled=1 LIMIT " + std::to_string(limit), {});
}

Result<std::vector<std::string>> MysqlCredentialRows::to_probe(std::size_t limit) {
    return first_column(
        session_,
        "SELECT credential FROM credentials WHERE parked_since IS NOT NULL AND probe_at<=UTC_TIMESTAMP(6) "
        "ORDER BY probe_at LIMIT " +
            std::to_string(limit),
        {});
}

Result<std::vector<DownCredential>> MysqlCredentialRows::down(std::size_t limit) {
    TRY(const auto rows, session_.query("SELECT credential, COALESCE(post_probe_at<=UTC_TIMESTAMP(6),0), "
                                        "COALESCE(look_probe_at<=UTC_TIMESTAMP(6),0), "
                                        "COALESCE(look_probe_at>UTC_TIMESTAMP(6)-INTERVAL " +
                                            std::to_string(Breaker::left_to_look_ups.count()) +
                                            " SECOND,0) FROM credentials WHERE post_probe_at IS NOT NULL OR "
                                            "look_probe_at IS NOT NULL LIMIT " +
                                            std::to_string(limit),
                                        {}));
    std::vector<DownCredential> down;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        DownCredential& one = down.emplace_back(DownCredential{columns.text()});
        one.post_is_due = columns.number() != 0;
        one.look_up_is_due = columns.number() != 0;
        one.look_ups_wait = columns.number() != 0;
    }
    return down;
}

Result<std::vector<DueDelivery>> MysqlCredentialRows::held_posts(const std::string& credential,
                                                                 const std::string& look_queue, bool newest,
                                                                 std::size_t limit) {
    std::vector<DueDelivery> held;
    // One state after the other: so the index gives the rows in their order, however many wait.
    for (const char* state : {"UNKNOWN", "RETRY", "PLANNED"}) {
        TRY(auto rows, due_deliveries_where(
                           session_, credential_index,
                           "credential=? AND state=? AND next_attempt_at IS NULL AND rate_window<>? AND " +
                               is_free + " AND " + is_first_of_callback + " ORDER BY ordinal" +
                               (newest ? " DESC" : "") + " LIMIT " + std::to_string(limit),
                           {credential, std::string(state), look_queue}));
        for (DueDelivery& row : rows) held.push_back(std::move(row));
    }
    return held;
}

Result<std::optional<DueDelivery>> MysqlCredentialRows::oldest_parked(const std::string& name) {
    TRY(auto rows, due_deliveries_where(
                       session_, credential_index,
                       "credential=? AND " + parked_for_credential + " ORDER BY ordinal LIMIT 1", {name}));
    if (rows.empty()) return std::optional<DueDelivery>();
    return std::optional(std::move(rows[0]));
}

Result<ParkedBatch> MysqlCredentialRows::change(const std::string& name, const Change& change,
                                                std::size_t limit) {
    const std::string found =
        " FROM " + deliveries_by(credential_index) + " WHERE credential=? AND " + change.condition;
    // A sender that has claimed a delivery may wait for the credential's row, which we hold: its rows are
    // skipped.
    TRY(const auto rows, session_.query("SELECT delivery_id, rate_window" + found + " LIMIT " +
                                            std::to_string(limit) + " FOR UPDATE SKIP LOCKED",
                                        {name}));
    std::vector<std::string> ids;
    ParkedBatch moved;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        ids.push_back(columns.text());
        if (const auto window = columns.text_or_null()) moved.windows.insert(*window);
    }
    TRY_VOID(in_chunks(ids.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        auto all = change.values;
        for (auto& id : as_values(ids, first, count)) all.push_back(std::move(id));
        TRY_VOID(session_.execute("UPDATE deliveries SET " + change.assignments +
                                      ", generation=generation+1 WHERE delivery_id IN " + placeholders(count),
                                  all));
        return {};
    }));
    TRY(const auto left, first_column(session_, "SELECT delivery_id" + found + " LIMIT 1", {name}));
    moved.count = static_cast<std::int64_t>(ids.size());
    moved.all = left.empty();
    return moved;
}

Result<ParkedBatch> MysqlCredentialRows::park(const std::string& name, const std::string& cause,
                                              std::size_t limit) {
    return change(name, {"state IN ('PLANNED','RETRY') AND " + is_free, "state='PARKED', cause=?", {cause}},
                  limit);
}

Result<ParkedBatch> MysqlCredentialRows::release(const std::string& name, std::size_t limit) {
    return change(name,
                  {parked_for_credential,
                   "state='RETRY', lease_until=UTC_TIMESTAMP(6), "
                   "next_attempt_at=IF(rate_window IS NULL, UTC_TIMESTAMP(6), NULL)",
                   {}},
                  limit);
}

}  // namespace epilogue
