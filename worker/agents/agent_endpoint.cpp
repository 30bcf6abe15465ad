#include "worker/agents/agent_endpoint.h"

#include <algorithm>
#include <optional>

#include "agent/address.h"
#include "base/ids.h"
#include "worker/agents/agent_directory.h"
#include "worker/apply/reconcile_request.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/reconcile_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t max_url_bytes = 2000;
constexpr std::size_t max_key_bytes = 512;  // sealed, it fits into its column

bool is_visible_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

}  // namespace

Result<AgentEndpoint> endpoint_to_keep(std::string_view conversation, const std::string& url,
                                       const Secret& key, const Config& config) {
    if (url.size() > max_url_bytes || !agent::parse_address(url))
        return poisonous("agent_url: expected http[s]://HOST[:PORT][/PATH] without user, password and query");
    AgentEndpoint endpoint{normalise_conversation_id(conversation), url, ""};
    if (key.reveal().empty()) return endpoint;
    if (key.reveal().size() > max_key_bytes || !is_visible_ascii(key.reveal()))
        return poisonous("agent_key: expected 1 to 512 visible ASCII characters");
    auto sealed = session_key_sealer(config.security.keys).seal(key, endpoint.conversation_id);
    if (!sealed) return poisonous("agent_key: it cannot be kept: " + sealed.error().text);
    endpoint.sealed_key = std::move(*sealed);
    return endpoint;
}

Result<void> keep_endpoint(Store& store, const AgentEndpoint& endpoint) {
    return store.transact_idempotent([&](Transaction& transaction) -> Result<void> {
        const ConversationId& id = endpoint.conversation_id;
        TRY(const auto watched, transaction.callbacks().watched_among({id}));
        std::optional<Conversation> conversation;
        if (!watched.empty()) {
            TRY(conversation, transaction.conversations().lock_one(id));  // first, as everywhere
        }
        TRY_VOID(transaction.agent_endpoints().save(endpoint));
        TRY(auto waiting, transaction.reconciles().lock(id));
        TRY(const Instant now, transaction.now());
        if (!waiting && conversation && is_in_doubt(*conversation, now)) {
            // Nothing was asked while there was no server.
            TRY_VOID(queue_reconcile(transaction, id, ReconcileReason::registered, now, true));
            return {};
        }
        if (!waiting || !waiting->hindrance || !waiting->owner.empty()) return {};
        waiting->next_try_at = now;
        return transaction.reconciles().update(*waiting);
    });
}

}  // namespace epilogue
