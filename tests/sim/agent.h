// The agent servers of the world, as one worker asks them: they know each turn's words better than its log,
// and never say the same twice.
#pragma once

#include "tests/sim/database.h"
#include "tests/sim/process.h"
#include "worker/sources/final_message_source.h"

namespace epilogue::sim {

class SimFinalMessageSource final : public FinalMessageSource {
  public:
    SimFinalMessageSource(Database& database, Process& process) : database_(database), process_(process) {}

    /// Two servers have all conversations.
    Result<std::string> server_of(const ConversationId& conversation_id) override;
    FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                          const std::stop_token& stop) override;

  private:
    Database& database_;
    Process& process_;
};

}  // namespace epilogue::sim
