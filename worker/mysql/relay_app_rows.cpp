#include "worker/mysql/relay_app_rows.h"

#include <functional>
#include <utility>

#include "worker/mysql/agent_endpoint_rows.h"
#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr int days_remembered = 90;

const std::string still_ours =
    "EXISTS (SELECT 1 FROM relay_app_servers s WHERE s.server=? AND s.owner=? AND "
    "s.lease_until>UTC_TIMESTAMP(6))";

/// Runs `work`, of which each statement commits by itself. It may run twice: an idle session may have been
/// closed by the server meanwhile.
Result<void> on_session(MysqlStore& store, const std::function<Result<void>(MysqlSession&)>& work) {
    auto done = store.with_session(work);
    if (!done && (is_lost_connection(done.error()) || is_conflict(done.error())))
        done = store.with_session(work);
    return done;
}

}  // namespace

Result<std::optional<std::string>> MysqlAppPositions::hold(const std::string& server,
                                                           const std::string& owner,
                                                           std::chrono::seconds lease) {
    std::optional<std::string> floor;
    TRY_VOID(on_session(store_, [&](MysqlSession& session) -> Result<void> {
        TRY_VOID(session.execute(
            "INSERT IGNORE INTO relay_app_servers (server, lease_until) VALUES (?,UTC_TIMESTAMP(6))",
            {server}));
        TRY_VOID(session.execute(
            "UPDATE relay_app_servers SET owner=?, lease_until=UTC_TIMESTAMP(6) + INTERVAL ? SECOND WHERE "
            "server=? AND (owner=? OR lease_until<=UTC_TIMESTAMP(6))",
            {owner, std::int64_t{lease.count()}, server, owner}));
        TRY(const auto rows, session.query("SELECT floor FROM relay_app_servers WHERE server=? AND owner=? "
                                           "AND lease_until>UTC_TIMESTAMP(6)",
                                           {server, owner}));
        floor.reset();
        if (!rows.empty()) floor = Columns(rows[0]).text();
        return {};
    }));
    return floor;
}

Result<void> MysqlAppPositions::release(const std::string& server, const std::string& owner) {
    return on_session(store_, [&](MysqlSession& session) -> Result<void> {
        TRY_VOID(
            session.execute("UPDATE relay_app_servers SET owner=NULL, lease_until=UTC_TIMESTAMP(6) WHERE "
                            "server=? AND owner=?",
                            {server, owner}));
        return {};
    });
}

Result<void> MysqlAppPositions::set_floor(const std::string& server, const std::string& owner,
                                          const std::string& floor) {
    return on_session(store_, [&](MysqlSession& session) -> Result<void> {
        TRY_VOID(
            session.execute("UPDATE relay_app_servers SET floor=? WHERE server=? AND owner=? AND "
                            "lease_until>UTC_TIMESTAMP(6)",
                            {floor, server, owner}));
        TRY_VOID(
            session.execute("DELETE FROM relay_app_positions WHERE moved_at<UTC_TIMESTAMP(6) - INTERVAL " +
                            std::to_string(days_remembered) + " DAY LIMIT 500"));
        return {};
    });
}

Result<void> MysqlAppPositions::note_look(const std::string& server, const std::string& owner,
                                          const relay::AppLook& look) {
    // Between two looks the lease may have passed: it is ours as long as no other relay has taken it.
    return on_session(store_, [&](MysqlSession& session) -> Result<void> {
        TRY_VOID(
            session.execute("UPDATE relay_app_servers SET "
                            "behind_since=IF(?=0,NULL,COALESCE(behind_since,UTC_TIMESTAMP(6))), behind=?, "
                            "looked_at=UTC_TIMESTAMP(6), "
                            "last_error_at=IF(?='',last_error_at,UTC_TIMESTAMP(6)), last_error=NULLIF(?,'') "
                            "WHERE server=? AND owner=?",
                            {look.behind, look.behind, look.trouble, look.trouble, server, owner}));
        return {};
    });
}

Result<void> MysqlAppPositions::save(const std::string& server, const std::string& owner,
                                     const ConversationId& conversation, const relay::AppPosition& position) {
    return on_session(store_, [&](MysqlSession& session) -> Result<void> {
        TRY_VOID(session.execute(
            "INSERT INTO relay_app_positions (conversation_id, server, newest, told, moved_at) "
            "SELECT ?,?,?,?,UTC_TIMESTAMP(6) FROM DUAL WHERE " +
                still_ours +
                " ON DUPLICATE KEY UPDATE server=VALUES(server), newest=VALUES(newest), told=VALUES(told), "
                "moved_at=VALUES(moved_at)",
            {conversation.text(), server, position.newest, position.told, server, owner}));
        return {};
    });
}

Result<std::map<ConversationId, relay::AppPosition>> MysqlAppPositions::positions(
    const std::vector<ConversationId>& conversations) {
    std::map<ConversationId, relay::AppPosition> found;
    TRY_VOID(on_session(store_, [&](MysqlSession& session) -> Result<void> {
        return in_id_chunks(conversations, [&](const std::vector<SqlValue>& ids) -> Result<void> {
            TRY(const auto rows,
                session.query("SELECT conversation_id, newest, told FROM relay_app_positions WHERE "
                              "conversation_id IN " +
                                  placeholders(ids.size()),
                              ids));
            for (const SqlRow& row : rows) {
                Columns columns(row);
                const auto id = columns.id<ConversationId>();
                relay::AppPosition& position = found[id];
                position.newest = columns.text();
                position.told = columns.number();
            }
            return {};
        });
    }));
    return found;
}

Result<void> MysqlAppPositions::save_endpoint(const ConversationId& conversation, const std::string& url,
                                              const Secret& session_key) {
    if (!sealer_.has_key()) return {};
    std::string sealed;
    if (!session_key.empty()) {
        TRY(sealed, sealer_.seal(session_key, conversation.text()));
    }
    return on_session(store_, [&](MysqlSession& session) {
        return MysqlAgentEndpointRows(session).save({conversation, url, sealed});
    });
}

}  // namespace epilogue
