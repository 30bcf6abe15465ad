#include "worker/mysql/summary_rows.h"

#include <span>

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr const char* owed_state = "OWED";
constexpr const char* ready_state = "READY";

}  // namespace

Result<void> MysqlSummaryRows::insert(const std::vector<SummaryRow>& rows) {
    return in_chunks(rows.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        for (const SummaryRow& row : std::span(rows).subspan(first, count))
            values.insert(values.end(),
                          {row.conversation_id, row.turn_key, row.source, row.owed ? owed_state : ready_state,
                           row.body, sql_value_or_null(row.status_event), sql_value(row.ended_at)});
        TRY_VOID(session_.execute(
            "INSERT INTO summaries (conversation_id, turn_key, source, state, body, status_event, ended_at, "
            "created_at) VALUES " +
                repeated("(?,?,?,?,?,?,?,UTC_TIMESTAMP(6))", count) +
                " ON DUPLICATE KEY UPDATE generation=generation",
            values));
        return {};
    });
}

Result<std::optional<SummaryRow>> MysqlSummaryRows::summary_row(const TurnId& turn, const std::string& lock) {
    TRY(const auto rows,
        session_.query("SELECT source, body, state, status_event, ended_at, owner, generation, lease_until, "
                       "created_at, crashes FROM summaries WHERE conversation_id=? AND turn_key=?" +
                           lock,
                       {turn.conversation_id, turn.turn_key}));
    if (rows.empty()) return std::optional<SummaryRow>();
    Columns columns(rows[0]);
    SummaryRow row;
    row.conversation_id = turn.conversation_id;
    row.turn_key = turn.turn_key;
    row.source = columns.text();
    row.body = columns.text();
    row.owed = columns.text() == owed_state;
    row.status_event = columns.text();
    row.ended_at = columns.instant();
    row.owner = columns.text();
    row.generation = {columns.number()};
    row.lease_until = columns.instant();
    row.created_at = columns.instant().value_or(Instant{});
    row.crashes = static_cast<int>(columns.number());
    return std::optional(std::move(row));
}

Result<std::optional<SummaryRow>> MysqlSummaryRows::find(const TurnId& turn) {
    return summary_row(turn, "");
}

Result<std::optional<SummaryRow>> MysqlSummaryRows::lock(const TurnId& turn) {
    return summary_row(turn, " FOR UPDATE");
}

Result<void> MysqlSummaryRows::update(const SummaryRow& row) {
    TRY_VOID(session_.execute(
        "UPDATE summaries SET source=?, body=?, state=?, owner=?, generation=?, lease_until=? "
        "WHERE conversation_id=? AND turn_key=?",
        {row.source, row.body, row.owed ? owed_state : ready_state, sql_value_or_null(row.owner),
         row.generation.value, sql_value(row.lease_until), row.conversation_id, row.turn_key}));
    return {};
}

Result<std::vector<TurnId>> MysqlSummaryRows::owed(std::size_t limit) {
    TRY(const auto rows,
        session_.query("SELECT conversation_id, turn_key FROM summaries WHERE state='OWED' AND (lease_until "
                       "IS NULL OR lease_until<=UTC_TIMESTAMP(6)) ORDER BY lease_until LIMIT " +
                           std::to_string(limit),
                       {}));
    std::vector<TurnId> turns;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        auto conversation_id = columns.id<ConversationId>();
        turns.push_back({std::move(conversation_id), columns.id<TurnKey>()});
    }
    return turns;
}

Result<std::string> MysqlSummaryRows::keep_instruction(const TurnId& turn, const std::string& ask_id) {
    TRY_VOID(
        session_.execute("INSERT INTO instructions (conversation_id, turn_key, ask_id, created_at) VALUES "
                         "(?,?,?,UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE ask_id=ask_id",
                         {turn.conversation_id, turn.turn_key, ask_id}));
    TRY(const auto rows,
        session_.query("SELECT ask_id FROM instructions WHERE conversation_id=? AND turn_key=? FOR UPDATE",
                       {turn.conversation_id, turn.turn_key}));
    if (rows.empty()) return fatal("the instruction of turn " + turn.turn_key + " is gone");
    return Columns(rows[0]).text();
}

Result<LlmSpending> MysqlSummaryRows::lock_llm_spending(const std::string& model, const std::string& day) {
    TRY_VOID(session_.execute(
        "INSERT INTO llm_spending (model, day) VALUES (?,?) ON DUPLICATE KEY UPDATE requests=requests",
        {model, day}));
    TRY(const auto rows, session_.query("SELECT requests, tokens_in, tokens_out, cost FROM llm_spending "
                                        "WHERE model=? AND day=? FOR UPDATE",
                                        {model, day}));
    LlmSpending spending;
    if (rows.empty()) return spending;
    Columns columns(rows[0]);
    spending.requests = columns.number();
    spending.tokens_in = columns.number();
    spending.tokens_out = columns.number();
    spending.cost = columns.number();
    return spending;
}

Result<void> MysqlSummaryRows::put_llm_spending(const std::string& model, const std::string& day,
                                                const LlmSpending& spending) {
    TRY_VOID(session_.execute(
        "UPDATE llm_spending SET requests=?, tokens_in=?, tokens_out=?, cost=? WHERE "
        "model=? AND day=?",
        {spending.requests, spending.tokens_in, spending.tokens_out, spending.cost, model, day}));
    return {};
}

}  // namespace epilogue
