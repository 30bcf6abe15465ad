#include "worker/agents/agent_directory.h"

#include "worker/store/agent_endpoint_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t max_servers = 256;

}  // namespace

Result<std::shared_ptr<const agent::AgentServer>> AgentDirectory::server_of(
    const ConversationId& conversation_id) {
    TRY(const auto own, look_up_(conversation_id));
    if (!own) {
        if (rules_.default_url.empty()) return std::shared_ptr<const agent::AgentServer>();
        return server_at(rules_.default_url, rules_.default_key);
    }
    if (own->sealed_key.empty()) return server_at(own->url, Secret());
    const auto key = sealer_.open(own->sealed_key, conversation_id);
    if (!key) return poisonous("the session key of the conversation's agent server: " + key.error().text);
    return server_at(own->url, *key);
}

Result<std::string> AgentDirectory::address_of(const ConversationId& conversation_id) {
    TRY(const auto own, look_up_(conversation_id));
    return own ? own->url : rules_.default_url;
}

Result<std::shared_ptr<const agent::AgentServer>> AgentDirectory::server_at(const std::string& url,
                                                                            const Secret& key) {
    auto address = agent::parse_address(url);
    if (!address) return poisonous("the address of the conversation's agent server cannot be used");
    if (url != rules_.default_url) address->egress = rules_.egress;
    const std::lock_guard lock(mutex_);
    // A server in use is kept alive by its user; the others are made again when they are asked for.
    if (servers_.size() >= max_servers) servers_.clear();
    auto& server = servers_[{url, key.reveal()}];
    if (!server) server = std::make_shared<const agent::AgentServer>(*address, key, rules_.deadlines);
    return server;
}

AgentDirectory::LookUp endpoints_in(Store& store) {
    return [&store](const ConversationId& conversation_id) -> Result<std::optional<AgentEndpoint>> {
        std::optional<AgentEndpoint> found;
        TRY_VOID(store.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(found, transaction.agent_endpoints().find(conversation_id));
            return {};
        }));
        return found;
    };
}

Sealer session_key_sealer(const std::vector<Secret>& security_keys) {
    return {security_keys, "session key of an agent server"};
}

}  // namespace epilogue
