// Which agent server has a conversation: the one of its own (agent_endpoints), else [agent_server].
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agent/server.h"
#include "base/ids.h"
#include "base/sealed.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/store.h"

namespace epilogue {

struct AgentDirectoryRules {
    std::string default_url;  ///< [agent_server]; empty: none
    Secret default_key;
    agent::Deadlines deadlines = {};  ///< of the calls of every server
    std::shared_ptr<const EgressRules> egress = std::make_shared<EgressRules>();  ///< of addresses in rows
};

/// Thread-safe.
class AgentDirectory {
  public:
    /// Finds the endpoint of a conversation; nullopt: it has none of its own. Errors: the database's.
    using LookUp = std::function<Result<std::optional<AgentEndpoint>>(const ConversationId& conversation_id)>;

    AgentDirectory(LookUp look_up, Sealer sealer, AgentDirectoryRules rules)
        : look_up_(std::move(look_up)), sealer_(std::move(sealer)), rules_(std::move(rules)) {}

    /// The server to ask about the conversation; nullptr: there is none. Errors: the database's; poison when
    /// the address or the key it has cannot be used.
    Result<std::shared_ptr<const agent::AgentServer>> server_of(const ConversationId& conversation_id);

    /// Its address, as it was given; "": there is none. Errors: the database's.
    Result<std::string> address_of(const ConversationId& conversation_id);

  private:
    Result<std::shared_ptr<const agent::AgentServer>> server_at(const std::string& url, const Secret& key);

    const LookUp look_up_;
    const Sealer sealer_;
    const AgentDirectoryRules rules_;
    std::mutex mutex_;
    /// By address and key: a server is asked only once what it can do.
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const agent::AgentServer>> servers_;
};

/// Looks endpoints up in agent_endpoints, each in a transaction of its own. `store` has to outlive it.
AgentDirectory::LookUp endpoints_in(Store& store);

/// Seals session keys of agent servers, bound to the conversation's id, with the first of the keys; opens
/// with any.
Sealer session_key_sealer(const std::vector<Secret>& security_keys);

}  // namespace epilogue
