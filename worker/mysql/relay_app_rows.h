// AppPositions over MySQL: rows of relay_app_servers and relay_app_positions; and the addresses of agent
// servers that app servers tell of, in agent_endpoints.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/relay/app_server/app_positions.h"
#include "base/sealed.h"
#include "base/secret.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

class MysqlAppPositions final : public relay::AppPositions {
  public:
    /// `store` has to outlive it. `sealer` seals the session keys of agent_endpoints.
    MysqlAppPositions(MysqlStore& store, Sealer sealer) : store_(store), sealer_(std::move(sealer)) {}

    Result<std::optional<std::string>> hold(const std::string& server, const std::string& owner,
                                            std::chrono::seconds lease) override;
    Result<void> release(const std::string& server, const std::string& owner) override;
    Result<void> set_floor(const std::string& server, const std::string& owner,
                           const std::string& floor) override;
    Result<void> note_look(const std::string& server, const std::string& owner,
                           const relay::AppLook& look) override;
    Result<void> save(const std::string& server, const std::string& owner, const ConversationId& conversation,
                      const relay::AppPosition& position) override;
    Result<std::map<ConversationId, relay::AppPosition>> positions(
        const std::vector<ConversationId>& conversations) override;

    /// The conversation's agent server is there. The key is stored sealed; without `[security] keys` nothing
    /// is stored.
    Result<void> save_endpoint(const ConversationId& conversation, const std::string& url,
                               const Secret& session_key);

  private:
    MysqlStore& store_;
    const Sealer sealer_;
};

}  // namespace epilogue
