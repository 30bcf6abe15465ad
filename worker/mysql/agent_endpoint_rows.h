// AgentEndpointRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/agent_endpoint_rows.h"

namespace epilogue {

class MysqlAgentEndpointRows final : public AgentEndpointRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlAgentEndpointRows(MysqlSession& session) : session_(session) {}

    Result<void> save(const AgentEndpoint& endpoint) override;
    Result<std::optional<AgentEndpoint>> find(const std::string& conversation_id) override;
    Result<std::vector<std::string>> among(const std::vector<std::string>& conversation_ids) override;

  private:
    MysqlSession& session_;
};

}  // namespace epilogue
