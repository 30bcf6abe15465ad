#include "worker/mysql/kept_conversation.h"

#include <algorithm>
#include <utility>

#include "worker/mysql/columns.h"
#include "worker/mysql/conversation_rows.h"

namespace epilogue {
namespace {

const std::string newest_kept = " LIMIT " + std::to_string(max_kept_rows);

Result<void> read_callbacks(MysqlSession& session, const ConversationId& id, KeptConversation& kept) {
    TRY(const auto rows,
        session.query("SELECT c.id, c.status, p.phase, c.processor_type, p.reason, c.created_at FROM "
                      "conversation_callbacks c LEFT JOIN callback_progress p ON p.callback_id=c.id "
                      "WHERE p.conversation_id=? OR c.conversation_id=? ORDER BY c.id" +
                          newest_kept,
                      {id, id}));
    for (const SqlRow& row : rows) {
        Columns columns(row);
        KeptCallback& callback = kept.callbacks.emplace_back();
        callback.id = {columns.number()};
        callback.status = columns.text();
        callback.phase = columns.text();
        callback.processor_type = columns.text();
        callback.reason = columns.text();
        callback.created_at = columns.instant();
    }
    return {};
}

Result<void> read_summaries(MysqlSession& session, const ConversationId& id, KeptConversation& kept) {
    TRY(const auto rows,
        session.query("SELECT turn_key, source, state, body, status_event, created_at FROM summaries WHERE "
                      "conversation_id=? ORDER BY created_at DESC" +
                          newest_kept,
                      {id}));
    for (const SqlRow& row : rows) {
        Columns columns(row);
        KeptSummary& summary = kept.summaries.emplace_back();
        summary.turn_key = columns.id<TurnKey>();
        summary.source = columns.text();
        summary.is_owed = columns.text() == "OWED";
        TRY(summary.summary, summary_from_json(columns.text()));
        summary.status_event = columns.text();
        summary.created_at = columns.instant();
    }
    std::reverse(kept.summaries.begin(), kept.summaries.end());
    return {};
}

Result<void> read_deliveries(MysqlSession& session, const ConversationId& id, KeptConversation& kept) {
    TRY(const auto rows,
        session.query("SELECT delivery_id, callback_id, turn_key, sink, target, verdict, state, attempt, "
                      "cause, remote_url, created_at, sent_at FROM deliveries WHERE conversation_id=? "
                      "ORDER BY ordinal DESC" +
                          newest_kept,
                      {id}));
    for (const SqlRow& row : rows) {
        Columns columns(row);
        KeptDelivery& delivery = kept.deliveries.emplace_back();
        delivery.id = columns.id<DeliveryId>();
        delivery.callback_id = {columns.number()};
        delivery.turn_key = columns.id<TurnKey>();
        delivery.sink = columns.text();
        delivery.target = columns.text();
        delivery.verdict = verdict_named(columns.text()).value_or(Verdict::finished);
        delivery.state = columns.text();
        delivery.attempt = static_cast<int>(columns.number());
        delivery.cause = columns.text();
        delivery.remote_url = columns.text();
        delivery.created_at = columns.instant();
        delivery.sent_at = columns.instant();
    }
    std::reverse(kept.deliveries.begin(), kept.deliveries.end());
    return {};
}

/// Where its agent server is, and what it is still asked.
Result<void> read_server(MysqlSession& session, const ConversationId& id, KeptConversation& kept) {
    TRY(const auto urls, session.query("SELECT url FROM agent_endpoints WHERE conversation_id=?", {id}));
    if (!urls.empty()) kept.agent_url = Columns(urls[0]).text();
    TRY(const auto questions, session.query("SELECT why, attempts, hindrance, next_try_at FROM catch_ups "
                                            "WHERE conversation_id=?",
                                            {id}));
    if (questions.empty()) return {};
    Columns columns(questions[0]);
    KeptQuestion& question = kept.question.emplace();
    question.why = columns.text();
    question.attempts = static_cast<int>(columns.number());
    question.hindrance = columns.text();
    question.next_try_at = columns.instant();
    return {};
}

}  // namespace

Result<std::optional<KeptConversation>> read_kept(MysqlStore& store, const ConversationId& id) {
    KeptConversation kept;
    TRY_VOID(store.with_session([&](MysqlSession& session) -> Result<void> {
        TRY(auto found, find_conversation(session, id));
        if (found) {
            kept.conversation = std::move(found->conversation);
            kept.partition = found->partition;
        }
        TRY_VOID(read_callbacks(session, id, kept));
        TRY_VOID(read_summaries(session, id, kept));
        TRY_VOID(read_deliveries(session, id, kept));
        return read_server(session, id, kept);
    }));
    const bool is_known = kept.conversation || !kept.callbacks.empty() || !kept.summaries.empty() ||
                          !kept.deliveries.empty() || !kept.agent_url.empty();
    return is_known ? std::optional(std::move(kept)) : std::nullopt;
}

}  // namespace epilogue
