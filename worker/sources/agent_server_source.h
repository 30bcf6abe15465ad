// Asks an agent server about a turn's end: whether anything has begun in the conversation since, and what its
// agent said last.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "agent/calls.h"
#include "base/ids.h"
#include "worker/sources/final_message_source.h"

namespace epilogue {

class AgentServerSource final : public FinalMessageSource {
  public:
    /// The server that has a conversation; nullptr: none. Thread-safe.
    using FindServer = std::function<Result<std::shared_ptr<const agent::AgentServer>>(
        const ConversationId& conversation_id)>;

    explicit AgentServerSource(FindServer find_server) : find_server_(std::move(find_server)) {}

    Result<std::string> server_of(const ConversationId& conversation_id) override;
    FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                          const std::stop_token& stop) override;

  private:
    void tell(const std::string& address, const FinalMessageReply& reply);

    const FindServer find_server_;
    std::mutex mutex_;
    std::map<std::string, FinalMessageReply::Kind>
        told_;  ///< by address: the kind of failure that was logged last
};

/// Asks a conversation's server: one call after the other, each with the time that is left. A call that fails
/// makes a reply of that kind.
FinalMessageReply reply_of(const agent::ConversationCalls& calls, const FinalMessageQuery& query);

/// Whether `status_event` is the newest status in a log (or in its last part): nothing has begun since.
bool stands_at(const std::vector<agent::EventRef>& log, const std::string& status_event);

}  // namespace epilogue
