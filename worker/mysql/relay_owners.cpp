#include "worker/mysql/relay_owners.h"

#include <functional>

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

/// Runs `work`, which may run twice: an idle session may have been closed by the server meanwhile.
Result<void> on_session(MysqlStore& store, const std::function<Result<void>(MysqlSession&)>& work) {
    auto done = store.with_session(work);
    if (!done && is_lost_connection(done.error())) done = store.with_session(work);
    return done;
}

}  // namespace

// Each statement commits by itself: a row is written once, and every reader sees the first that was.

Result<std::map<ConversationId, relay::KeyDigest>> MysqlRelayOwners::claim(
    const std::vector<ConversationId>& conversations, const relay::KeyDigest& key) {
    std::map<ConversationId, relay::KeyDigest> owners;
    TRY_VOID(on_session(store_, [&](MysqlSession& session) -> Result<void> {
        for (const ConversationId& conversation : conversations)
            TRY_VOID(session.execute(
                "INSERT INTO relay_owners (conversation_id, owner, created_at) VALUES (?,?,UTC_TIMESTAMP(6)) "
                "ON DUPLICATE KEY UPDATE conversation_id=VALUES(conversation_id)",
                {conversation.text(), key}));
        return in_id_chunks(conversations, [&](const std::vector<SqlValue>& values) -> Result<void> {
            TRY(const auto rows,
                session.query("SELECT conversation_id, owner FROM relay_owners WHERE conversation_id IN " +
                                  placeholders(values.size()),
                              values));
            for (const SqlRow& row : rows) {
                Columns columns(row);
                const auto conversation = columns.id<ConversationId>();
                owners[conversation] = columns.text();
            }
            return {};
        });
    }));
    return owners;
}

Result<void> MysqlRelayOwners::hand_over(const ConversationId& conversation, const relay::KeyDigest& from,
                                         const relay::KeyDigest& to) {
    return on_session(store_, [&](MysqlSession& session) -> Result<void> {
        TRY_VOID(session.execute("UPDATE relay_owners SET owner=? WHERE conversation_id=? AND owner=?",
                                 {to, conversation.text(), from}));
        return {};
    });
}

}  // namespace epilogue
