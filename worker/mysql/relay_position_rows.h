// The relay's positions over MySQL: relay_positions, fed by callback_progress and agent_endpoints.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent/relay/positions.h"
#include "base/sealed.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

class MysqlRelayPositions final : public relay::Positions {
  public:
    struct DefaultServer {
        std::string url;  ///< [agent_server]; empty: none
        Secret session_key{};
    };

    /// `store` has to outlive it. `sealer` opens the session keys of agent_endpoints; `fallback` is the
    /// server of conversations that have none of their own.
    MysqlRelayPositions(MysqlStore& store, Sealer sealer, DefaultServer fallback)
        : store_(store), sealer_(std::move(sealer)), fallback_(std::move(fallback)) {}

    Result<relay::Discovered> discover() override;
    Result<std::vector<relay::Claim>> claim(const std::string& owner, std::size_t limit,
                                            std::chrono::seconds lease) override;
    Result<void> end_leases(const std::string& owner) override;
    Result<std::vector<relay::HeldClaim>> renew(const std::string& owner,
                                                const std::vector<ConversationId>& followed,
                                                std::chrono::seconds lease) override;
    Result<std::vector<ConversationId>> advance(const std::string& owner,
                                                const std::vector<relay::PositionUpdate>& updates) override;
    Result<bool> release(const std::string& owner, const relay::PositionUpdate& last,
                         std::chrono::seconds pause) override;

  private:
    /// Runs `work` in a transaction of its own; one that lost to others is run again.
    Result<void> transact(const std::function<Result<void>(MysqlSession&)>& work);
    Result<std::vector<relay::Claim>> open_keys(const std::string& owner, std::vector<relay::Claim> claims,
                                                const std::vector<std::string>& sealed);

    MysqlStore& store_;
    const Sealer sealer_;
    const DefaultServer fallback_;
};

}  // namespace epilogue
