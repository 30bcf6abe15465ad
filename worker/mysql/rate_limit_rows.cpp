#include "worker/mysql/rate_limit_rows.h"

#include "worker/mysql/columns.h"
#include "worker/mysql/delivery_select.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {
namespace {

constexpr const char* queue_index = "ix_deliveries_line";

/// As look_queue_of(): of the credential `c`.
const std::string look_queue = "CONCAT(c.credential,'/look-ups')";

/// In the order of its index, which so gives a queue's first rows without sorting.
const std::string is_queued = "rate_window=? AND next_attempt_at IS NULL AND state IN " + open_states;

}  // namespace

Result<RateWindow> MysqlRateLimitRows::window(const std::string& name, const char* lock) {
    TRY(const auto rows,
        session_.query(std::string("SELECT closed_until, calls, strikes, struck_at, waiting, served_at, "
                                   "neglected_until, looks_until FROM rate_windows WHERE rate_window=?") +
                           lock,
                       {name}));
    RateWindow row;
    if (rows.empty()) return row;
    Columns columns(rows[0]);
    row.closed_until = columns.instant().value_or(Instant{});
    row.calls = calls_from_text(columns.text());
    row.refusals = static_cast<int>(columns.number());
    row.last_refused_at = columns.instant();
    row.waiting = columns.number() != 0;
    row.served_at = columns.instant().value_or(Instant{});
    row.unattended_until = columns.instant().value_or(Instant{});
    row.looks_until = columns.instant().value_or(Instant{});
    return row;
}

Result<RateWindow> MysqlRateLimitRows::read(const std::string& name) {
    return window(name, "");
}

Result<RateWindow> MysqlRateLimitRows::share_lock(const std::string& name) {
    return window(name, " LOCK IN SHARE MODE");
}

Result<RateWindow> MysqlRateLimitRows::lock(const std::string& name) {
    TRY_VOID(
        session_.execute("INSERT INTO rate_windows (rate_window, open_at) VALUES (?,UTC_TIMESTAMP(6)) "
                         "ON DUPLICATE KEY UPDATE rate_window=rate_window",
                         {name}));
    return window(name, " FOR UPDATE");
}

Result<void> MysqlRateLimitRows::update(const std::string& name, const RateWindow& row, Instant open_at) {
    const auto or_null = [](Instant at) { return at == Instant{} ? SqlValue(nullptr) : SqlValue(at); };
    TRY_VOID(session_.execute(
        "UPDATE rate_windows SET open_at=?, closed_until=?, calls=?, strikes=?, struck_at=?, waiting=?, "
        "served_at=?, neglected_until=?, looks_until=? WHERE rate_window=?",
        {open_at, or_null(row.closed_until), sql_value_or_null(to_text(row.calls)),
         std::int64_t{row.refusals}, sql_value(row.last_refused_at), std::int64_t{row.waiting},
         or_null(row.served_at), or_null(row.unattended_until), or_null(row.looks_until), name}));
    return {};
}

Result<std::vector<std::string>> MysqlRateLimitRows::open_queues(std::size_t limit) {
    return first_column(
        session_,
        "SELECT w.rate_window FROM rate_windows w WHERE w.waiting=1 AND w.open_at<=UTC_TIMESTAMP(6) AND NOT "
        "EXISTS (SELECT 1 FROM credentials c WHERE IF(w.rate_window=" +
            look_queue +
            ", c.look_probe_at, c.post_probe_at) IS NOT NULL AND (w.rate_window=c.credential OR "
            "LEFT(w.rate_window, LENGTH(c.credential)+1)=CONCAT(c.credential,'/'))) ORDER BY w.open_at "
            "LIMIT " +
            std::to_string(limit),
        {});
}

Result<std::vector<DueDelivery>> MysqlRateLimitRows::queue_heads(const std::string& name, std::size_t limit) {
    return due_deliveries_where(session_, queue_index,
                                is_queued + " AND " + is_free + " AND " + is_first_of_callback +
                                    " ORDER BY ordinal LIMIT " + std::to_string(limit),
                                {name});
}

Result<bool> MysqlRateLimitRows::has_queue(const std::string& name) {
    TRY(const auto ids, first_column(session_,
                                     "SELECT delivery_id FROM " + deliveries_by(queue_index) + " WHERE " +
                                         is_queued + " LIMIT 1",
                                     {name}));
    return !ids.empty();
}

}  // namespace epilogue
