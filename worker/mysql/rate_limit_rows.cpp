#include "worker/mysql/rate_limit_rows.h"

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"
#include "worker/mysql/delivery_select.h"

namespace epilogue {
namespace {

constexpr const char* line_index = "ix_deliveries_line";
constexpr const char* credential_index = "ix_deliveries_credential";

/// In the order of its index, which so gives a line's first rows without sorting.
const std::string in_line = "rate_window=? AND next_attempt_at IS NULL AND state IN " + open_states;

const std::string parked_for_credential = "state='PARKED' AND cause LIKE 'credential%'";

}  // namespace

// --- windows and lines ------------------------------------------------------------------------------------

Result<RateWindow> MysqlPaceRows::window(const std::string& name, const char* lock) {
    TRY(const auto rows,
        session_.query(std::string("SELECT closed_until, calls, strikes, struck_at, waiting, served_at, "
                                   "neglected_until FROM rate_windows WHERE rate_window=?") +
                           lock,
                       {name}));
    RateWindow row;
    if (rows.empty()) return row;
    Columns columns(rows[0]);
    row.closed_until = columns.instant().value_or(Instant{});
    row.calls = calls_from_text(columns.text());
    row.strikes = static_cast<int>(columns.number());
    row.struck_at = columns.instant();
    row.waiting = columns.number() != 0;
    row.served_at = columns.instant().value_or(Instant{});
    row.neglected_until = columns.instant().value_or(Instant{});
    return row;
}

Result<RateWindow> MysqlPaceRows::peek_window(const std::string& name) {
    return window(name, "");
}

Result<RateWindow> MysqlPaceRows::hold_window(const std::string& name) {
    return window(name, " LOCK IN SHARE MODE");
}

Result<RateWindow> MysqlPaceRows::lock_window(const std::string& name) {
    TRY_VOID(
        session_.execute("INSERT INTO rate_windows (rate_window, open_at) VALUES (?,UTC_TIMESTAMP(6)) "
                         "ON DUPLICATE KEY UPDATE rate_window=rate_window",
                         {name}));
    return window(name, " FOR UPDATE");
}

Result<void> MysqlPaceRows::put_window(const std::string& name, const RateWindow& row, Instant open_at) {
    const auto or_null = [](Instant at) { return at == Instant{} ? SqlValue(nullptr) : SqlValue(at); };
    TRY_VOID(session_.execute(
        "UPDATE rate_windows SET open_at=?, closed_until=?, calls=?, strikes=?, struck_at=?, waiting=?, "
        "served_at=?, neglected_until=? WHERE rate_window=?",
        {open_at, or_null(row.closed_until), sql_value_or_null(to_text(row.calls)), std::int64_t{row.strikes},
         sql_value(row.struck_at), std::int64_t{row.waiting}, or_null(row.served_at),
         or_null(row.neglected_until), name}));
    return {};
}

Result<std::vector<std::string>> MysqlPaceRows::open_lines(std::size_t limit) {
    return first_column(
        session_,
        "SELECT rate_window FROM rate_windows WHERE waiting=1 AND open_at<=UTC_TIMESTAMP(6) ORDER BY open_at "
        "LIMIT " +
            std::to_string(limit),
        {});
}

Result<std::vector<DeliveryRow>> MysqlPaceRows::heads_of_line(const std::string& name, std::size_t limit) {
    return deliveries_where(session_, line_index,
                            in_line + " AND " + is_free + " AND " + is_first_of_callback +
                                " ORDER BY ordinal LIMIT " + std::to_string(limit),
                            {name});
}

Result<bool> MysqlPaceRows::has_line(const std::string& name) {
    TRY(const auto ids, first_column(session_,
                                     "SELECT delivery_id FROM " + deliveries_by(line_index) + " WHERE " +
                                         in_line + " LIMIT 1",
                                     {name}));
    return !ids.empty();
}

// --- credentials ------------------------------------------------------------------------------------------

Result<CredentialRow> MysqlPaceRows::credential(const std::string& name, const char* lock) {
    TRY(const auto rows, session_.query(std::string("SELECT parked_since, cause, probe_at, unsettled FROM "
                                                    "credentials WHERE credential=?") +
                                            lock,
                                        {name}));
    CredentialRow row;
    if (rows.empty()) return row;
    Columns columns(rows[0]);
    row.parked_since = columns.instant();
    row.cause = columns.text();
    row.probe_at = columns.instant();
    row.unsettled = columns.number() != 0;
    return row;
}

Result<CredentialRow> MysqlPaceRows::peek_credential(const std::string& name) {
    return credential(name, "");
}

Result<CredentialRow> MysqlPaceRows::lock_credential(const std::string& name) {
    TRY_VOID(session_.execute(
        "INSERT INTO credentials (credential) VALUES (?) ON DUPLICATE KEY UPDATE credential=credential",
        {name}));
    return credential(name, " FOR UPDATE");
}

Result<void> MysqlPaceRows::put_credential(const std::string& name, const CredentialRow& row) {
    TRY_VOID(session_.execute(
        "UPDATE credentials SET parked_since=?, cause=?, probe_at=?, unsettled=? WHERE credential=?",
        {sql_value(row.parked_since), sql_value_or_null(row.cause), sql_value(row.probe_at),
         std::int64_t{row.unsettled}, name}));
    return {};
}

Result<std::vector<std::string>> MysqlPaceRows::unsettled_credentials(std::size_t limit) {
    return first_column(
        session_, "SELECT credential FROM credentials WHERE unsettled=1 LIMIT " + std::to_string(limit), {});
}

Result<std::vector<std::string>> MysqlPaceRows::credentials_to_probe(std::size_t limit) {
    return first_column(
        session_,
        "SELECT credential FROM credentials WHERE parked_since IS NOT NULL AND probe_at<=UTC_TIMESTAMP(6) "
        "ORDER BY probe_at LIMIT " +
            std::to_string(limit),
        {});
}

Result<std::optional<DeliveryRow>> MysqlPaceRows::oldest_parked(const std::string& name) {
    TRY(auto rows,
        deliveries_where(session_, credential_index,
                         "credential=? AND " + parked_for_credential + " ORDER BY ordinal LIMIT 1", {name}));
    if (rows.empty()) return std::optional<DeliveryRow>();
    return std::optional(std::move(rows[0]));
}

Result<Moved> MysqlPaceRows::move(const std::string& name, const std::string& condition,
                                  const std::string& assignments, const std::vector<SqlValue>& values,
                                  std::size_t limit) {
    const std::string found =
        " FROM " + deliveries_by(credential_index) + " WHERE credential=? AND " + condition;
    // Whoever has claimed a delivery may wait for the credential's row, which we hold: not to wait for them.
    TRY(const auto rows, session_.query("SELECT delivery_id, rate_window" + found + " LIMIT " +
                                            std::to_string(limit) + " FOR UPDATE SKIP LOCKED",
                                        {name}));
    std::vector<std::string> ids;
    Moved moved;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        ids.push_back(columns.text());
        if (const auto window = columns.text_or_null()) moved.windows.insert(*window);
    }
    TRY_VOID(in_chunks(ids.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        auto all = values;
        for (auto& id : as_values(ids, first, count)) all.push_back(std::move(id));
        TRY_VOID(session_.execute("UPDATE deliveries SET " + assignments +
                                      ", generation=generation+1 WHERE delivery_id IN " + placeholders(count),
                                  all));
        return {};
    }));
    TRY(const auto left, first_column(session_, "SELECT delivery_id" + found + " LIMIT 1", {name}));
    moved.count = static_cast<std::int64_t>(ids.size());
    moved.all = left.empty();
    return moved;
}

Result<Moved> MysqlPaceRows::park(const std::string& name, const std::string& cause, std::size_t limit) {
    return move(name, "state IN ('PLANNED','RETRY') AND " + is_free, "state='PARKED', cause=?", {cause},
                limit);
}

Result<Moved> MysqlPaceRows::let_go(const std::string& name, std::size_t limit) {
    return move(name, parked_for_credential,
                "state='RETRY', lease_until=UTC_TIMESTAMP(6), "
                "next_attempt_at=IF(rate_window IS NULL, UTC_TIMESTAMP(6), NULL)",
                {}, limit);
}

}  // namespace epilogue
