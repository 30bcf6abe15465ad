#include "worker/mysql/retention_rows.h"

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "worker/core/retention.h"
#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"
#include "worker/mysql/delivery_select.h"

namespace epilogue {
namespace {

using Ids = std::vector<std::string>;
using IdSet = std::set<std::string>;

const std::string limit_and_lock =
    " LIMIT " + std::to_string(MysqlRetention::rows_at_once) + " FOR UPDATE SKIP LOCKED";

/// `work` as one transaction. A COMMIT whose answer is lost needs no more: the work may be done again.
Result<RetentionChunk> in_transaction(MysqlStore& store,
                                      const std::function<Result<RetentionChunk>(MysqlSession&)>& work) {
    RetentionChunk chunk;
    TRY_VOID(store.with_session([&](MysqlSession& session) -> Result<void> {
        TRY_VOID(session.run("BEGIN"));
        const auto done = work(session);
        if (!done) {
            if (!session.is_broken()) (void)session.run("ROLLBACK").has_value();
            return Failure(done.error());
        }
        chunk = *done;
        return session.run("COMMIT");
    }));
    return chunk;
}

/// Those of the ids that `select`, which ends with the ids' column, finds; `and_more` follows the list of
/// ids.
Result<IdSet> among(MysqlSession& session, const std::string& select, const Ids& ids,
                    const std::string& and_more = "") {
    IdSet found;
    TRY_VOID(in_id_chunks(ids, [&](const std::vector<SqlValue>& values) -> Result<void> {
        TRY(const auto some,
            first_column(session, select + " IN " + placeholders(values.size()) + and_more, values));
        found.insert(some.begin(), some.end());
        return {};
    }));
    return found;
}

Result<std::int64_t> execute_for(MysqlSession& session, const std::string& statement, const Ids& ids) {
    std::int64_t changed = 0;
    TRY_VOID(in_id_chunks(ids, [&](const std::vector<SqlValue>& values) -> Result<void> {
        TRY(const auto count, session.execute(statement + " IN " + placeholders(values.size()), values));
        changed += count;
        return {};
    }));
    return changed;
}

/// Rows behind the cursor of a table that is read in the order of (`time`, `key`).
std::string behind(const std::string& time, const std::string& key) {
    return time + "<? AND " + time + ">=? AND (" + time + ">? OR " + key + ">?) ORDER BY " + time + ", " +
           key + limit_and_lock;
}

std::vector<SqlValue> behind(const RetentionCursor& cursor, Instant limit) {
    return {limit, cursor.at, cursor.at, cursor.key};
}

struct FoundDelivery {
    std::string id;
    std::string conversation_id;
    bool has_body = false;
    OldDelivery facts;
};

/// The next old deliveries, whatever they are: no statement reads more rows than it gives. Moves the cursor
/// behind them.
Result<std::vector<FoundDelivery>> old_deliveries(MysqlSession& session, Instant limit,
                                                  RetentionCursor& cursor) {
    TRY(const auto rows,
        session.query("SELECT delivery_id, conversation_id, state, COALESCE(sent_at, created_at), "
                      "COALESCE(lease_until>UTC_TIMESTAMP(6), 0), heal_due_at IS NOT NULL, body IS NOT NULL, "
                      "created_at FROM " +
                          deliveries_by("ix_deliveries_created") + " WHERE " +
                          behind("created_at", "delivery_id"),
                      behind(cursor, limit)));
    std::vector<FoundDelivery> found;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        FoundDelivery delivery;
        delivery.id = columns.text();
        delivery.conversation_id = columns.text();
        delivery.facts.state = delivery_state_named(columns.text()).value_or(DeliveryState::parked);
        delivery.facts.over_at = columns.instant().value_or(Instant::max());
        delivery.facts.is_leased = columns.number() != 0;
        delivery.facts.is_to_be_checked = columns.number() != 0;
        delivery.has_body = columns.number() != 0;
        cursor = {columns.instant().value_or(limit), delivery.id};
        found.push_back(std::move(delivery));
    }
    return found;
}

}  // namespace

Result<Instant> MysqlRetention::now() {
    TRY(const auto rows, store_.query("SELECT UTC_TIMESTAMP(6)"));
    return Columns(rows.at(0)).instant().value_or(Instant{});
}

Result<RetentionChunk> MysqlRetention::remove_dead_letters(Instant limit) {
    return in_transaction(store_, [&](MysqlSession& session) -> Result<RetentionChunk> {
        TRY(const auto removed,
            session.execute("DELETE FROM dead_letters WHERE created_at<? ORDER BY created_at LIMIT " +
                                std::to_string(rows_at_once),
                            {limit}));
        return RetentionChunk{removed, removed < static_cast<std::int64_t>(rows_at_once)};
    });
}

Result<RetentionChunk> MysqlRetention::remove_bodies(Instant limit, RetentionCursor& cursor) {
    return in_transaction(store_, [&](MysqlSession& session) -> Result<RetentionChunk> {
        TRY(const auto found, old_deliveries(session, limit, cursor));
        Ids ids;
        for (const FoundDelivery& delivery : found)
            if (delivery.has_body && may_lose_body(delivery.facts, limit)) ids.push_back(delivery.id);
        TRY(const auto removed,
            execute_for(session, "UPDATE deliveries SET body=NULL WHERE delivery_id", ids));
        return RetentionChunk{removed, found.size() < rows_at_once};
    });
}

Result<RetentionChunk> MysqlRetention::remove_deliveries(Instant limit, RetentionCursor& cursor) {
    return in_transaction(store_, [&](MysqlSession& session) -> Result<RetentionChunk> {
        TRY(const auto found, old_deliveries(session, limit, cursor));
        Ids conversations;
        for (const FoundDelivery& delivery : found) conversations.push_back(delivery.conversation_id);
        TRY(const IdSet known,
            among(session, "SELECT conversation_id FROM conversations WHERE conversation_id", conversations));
        Ids ids;
        for (const FoundDelivery& delivery : found) {
            OldDelivery facts = delivery.facts;
            facts.knows_conversation = known.contains(delivery.conversation_id);
            if (may_remove(facts, limit)) ids.push_back(delivery.id);
        }
        TRY(const auto removed, execute_for(session, "DELETE FROM deliveries WHERE delivery_id", ids));
        return RetentionChunk{removed, found.size() < rows_at_once};
    });
}

Result<RetentionChunk> MysqlRetention::remove_summaries(Instant limit, RetentionCursor& cursor) {
    return in_transaction(store_, [&](MysqlSession& session) -> Result<RetentionChunk> {
        TRY(const auto rows,
            session.query("SELECT conversation_id, turn_key, state, created_at FROM summaries FORCE INDEX "
                          "(ix_summaries_created) WHERE " +
                              behind("created_at", "conversation_id"),
                          behind(cursor, limit)));
        RetentionChunk chunk{0, rows.size() < rows_at_once};
        // A registration or a batch that adds a delivery of the turn holds the summary's row until it
        // commits.
        for (const SqlRow& row : rows) {
            Columns columns(row);
            const std::string conversation_id = columns.text();
            const std::string turn_key = columns.text();
            OldSummary facts;
            facts.is_owed = columns.text() == "OWED";
            facts.created_at = columns.instant().value_or(Instant::max());
            cursor = {facts.created_at, conversation_id};
            TRY(const auto open,
                session.query(
                    "SELECT 1 FROM " + deliveries_by("ix_deliveries_conversation") +
                        " WHERE conversation_id=? AND turn_key=? AND state NOT IN ('SENT','FAILED') "
                        "LIMIT 1",
                    {conversation_id, turn_key}));
            facts.has_open_delivery = !open.empty();
            if (!may_remove(facts, limit)) continue;
            TRY(const auto removed,
                session.execute("DELETE FROM summaries WHERE conversation_id=? AND turn_key=?",
                                {conversation_id, turn_key}));
            TRY_VOID(session.execute("DELETE FROM instructions WHERE conversation_id=? AND turn_key=?",
                                     {conversation_id, turn_key}));
            chunk.removed += removed;
        }
        return chunk;
    });
}

namespace {

/// What keeps a conversation, by the tables beside its own.
struct Keepers {
    IdSet watched;
    IdSet owed;
    IdSet asked;
};

/// An id that is 32 hex digits as upstream writes UUIDs.
std::string with_dashes(std::string id) {
    constexpr std::size_t digits = 32;
    if (id.size() != digits) return id;
    for (const std::size_t at : {8U, 13U, 18U, 23U}) id.insert(at, "-");
    return id;
}

Result<Keepers> keepers_of(MysqlSession& session, const Ids& ids) {
    Keepers keepers;
    TRY(keepers.watched, among(session, "SELECT conversation_id FROM callback_progress WHERE conversation_id",
                               ids, " AND phase NOT IN ('done','cancelled','error')"));
    Ids written = ids;  // rows of others that are not adopted yet have the id as they wrote it
    for (const std::string& id : ids) written.push_back(with_dashes(id));
    TRY(const IdSet foreign,
        among(session,
              "SELECT c.conversation_id FROM conversation_callbacks c LEFT JOIN callback_progress p ON "
              "p.callback_id=c.id WHERE p.callback_id IS NULL AND c.status='ACTIVE' AND c.conversation_id",
              written));
    for (const std::string& id : foreign) keepers.watched.insert(normalise_conversation_id(id));
    TRY(keepers.owed, among(session,
                            "SELECT conversation_id FROM " + deliveries_by("ix_deliveries_conversation") +
                                " WHERE conversation_id",
                            ids, " AND (state NOT IN ('SENT','FAILED') OR heal_due_at IS NOT NULL)"));
    TRY(keepers.asked, among(session, "SELECT conversation_id FROM catch_ups WHERE conversation_id", ids));
    return keepers;
}

}  // namespace

Result<RetentionChunk> MysqlRetention::remove_conversations(Instant limit, RetentionCursor& cursor) {
    return in_transaction(store_, [&](MysqlSession& session) -> Result<RetentionChunk> {
        // A transaction that adds to a conversation locks its row first: it waits for this one, then finds
        // none.
        TRY(const auto rows,
            session.query("SELECT conversation_id, last_event_at, turn_open, due_at IS NOT NULL FROM "
                          "conversations FORCE INDEX (ix_conversations_last_event) WHERE " +
                              behind("last_event_at", "conversation_id"),
                          behind(cursor, limit)));
        Ids ids;
        for (const SqlRow& row : rows) ids.push_back(Columns(row).text());
        TRY(const Keepers keepers, keepers_of(session, ids));
        Ids gone;
        for (const SqlRow& row : rows) {
            Columns columns(row);
            const std::string id = columns.text();
            OldConversation facts;
            facts.last_event_at = columns.instant();
            facts.is_open = columns.number() != 0;
            facts.has_timer = columns.number() != 0;
            facts.is_watched = keepers.watched.contains(id);
            facts.is_owed = keepers.owed.contains(id);
            facts.is_asked = keepers.asked.contains(id);
            cursor = {facts.last_event_at.value_or(limit), id};
            if (may_remove(facts, limit)) gone.push_back(id);
        }
        TRY(const auto removed,
            execute_for(session, "DELETE FROM conversations WHERE conversation_id", gone));
        TRY_VOID(execute_for(session, "DELETE FROM agent_endpoints WHERE conversation_id", gone));
        TRY_VOID(execute_for(session, "DELETE FROM relay_owners WHERE conversation_id", gone));
        return RetentionChunk{removed, rows.size() < rows_at_once};
    });
}

}  // namespace epilogue
