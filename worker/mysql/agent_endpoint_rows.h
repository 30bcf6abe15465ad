// AgentEndpointRows over one MySQL session.
#pragma once

#include "base/ids.h"
#include "base/io/mysql.h"
#include "worker/store/agent_endpoint_rows.h"

namespace epilogue {

class MysqlAgentEndpointRows final : public AgentEndpointRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlAgentEndpointRows(MysqlSession& session) : session_(session) {}

    Result<void> save(const AgentEndpoint& endpoint) override;
    Result<std::optional<AgentEndpoint>> find(const ConversationId& conversation_id) override;
    Result<std::vector<ConversationId>> among(const std::vector<ConversationId>& conversation_ids) override;

  private:
    MysqlSession& session_;
};

}  // namespace epilogue
