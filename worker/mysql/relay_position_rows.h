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

    struct KnownServer {
        std::string url;  ///< [[relay.servers]]
        Secret session_key{};
        bool all = false;  ///< each of its conversations is followed, with or without a callback
        /// Of its key as a webhook's sender (relay_owners), where no other server has that key; "": none.
        std::string sender{};
    };

    /// `store` has to outlive it. `sealer` opens the session keys of agent_endpoints; `fallback` is the
    /// server of conversations that have none of their own.
    MysqlRelayPositions(MysqlStore& store, Sealer sealer, DefaultServer fallback,
                        std::vector<KnownServer> servers = {})
        : store_(store),
          sealer_(std::move(sealer)),
          fallback_(std::move(fallback)),
          servers_(std::move(servers)) {}

    /// The conversations that a server with `all` has; `is_all`: and no others. From now on they are
    /// followed, and those that are gone are not, unless a callback waits for them.
    Result<void> found(const std::string& server, const std::vector<ConversationId>& conversations,
                       bool is_all);

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

    /// @{ Of conversations that webhooks told of: to be compared with their logs once. claim_to_compare()
    /// takes those of `conversations` whose server is known and that no relay follows or holds.
    /// claims_to_read() takes none: they say from where those can be read that another relay has.
    Result<std::vector<ConversationId>> told_lately();
    Result<std::vector<relay::Claim>> claim_to_compare(const std::string& owner,
                                                       const std::vector<ConversationId>& conversations,
                                                       std::chrono::seconds lease);
    Result<std::vector<relay::Claim>> claims_to_read(const std::vector<ConversationId>& conversations);
    Result<std::vector<relay::HeldClaim>> renew_compared(const std::string& owner,
                                                         const std::vector<ConversationId>& compared,
                                                         std::chrono::seconds lease);
    /// @}

  private:
    Result<std::vector<relay::HeldClaim>> renew_those(const std::string& owner,
                                                      const std::vector<ConversationId>& conversations,
                                                      std::chrono::seconds lease,
                                                      const std::string& and_only);
    Result<void> place_to_compare(MysqlSession& session, const std::vector<SqlValue>& ids);
    Result<void> take(MysqlSession& session, const std::string& owner,
                      const std::vector<ConversationId>& free, std::chrono::seconds lease,
                      std::vector<relay::Claim>& claims, std::vector<std::string>& sealed);
    Result<void> read_claims(MysqlSession& session, const std::vector<SqlValue>& ids,
                             std::vector<relay::Claim>& claims, std::vector<std::string>& sealed);
    /// Runs `work` in a transaction of its own; one that lost to others is run again.
    Result<void> transact(const std::function<Result<void>(MysqlSession&)>& work);
    Result<std::vector<relay::Claim>> open_keys(const std::string& owner, std::vector<relay::Claim> claims,
                                                const std::vector<std::string>& sealed);

    Result<void> place(MysqlSession& session, const std::string& server, const std::vector<SqlValue>& ids);
    /// The URLs of the servers that are followed as a whole.
    std::vector<SqlValue> urls_of_all() const;
    /// The key of a server for which agent_endpoints has none; empty: there is none.
    const Secret& key_of(const std::string& server) const;

    MysqlStore& store_;
    const Sealer sealer_;
    const DefaultServer fallback_;
    const std::vector<KnownServer> servers_;
};

}  // namespace epilogue
