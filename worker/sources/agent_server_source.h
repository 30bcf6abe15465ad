// Asks an agent server about a turn's end: whether anything has begun in the conversation since, and what its
// agent said last, or whatever else a summary source wants to know.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/calls.h"
#include "base/ids.h"
#include "worker/core/conversation.h"
#include "worker/sources/final_message_source.h"

namespace epilogue {

class AgentServerSource final : public FinalMessageSource {
  public:
    /// The server that has a conversation; nullptr: none. Thread-safe.
    using FindServer = std::function<Result<std::shared_ptr<const agent::AgentServer>>(
        const ConversationId& conversation_id)>;

    /// What is asked of a conversation's server; each call has the time that is left.
    using AskServer = std::function<FinalMessageReply(
        const agent::ConversationCalls& calls, const FinalMessageQuery& query, const std::stop_token& stop)>;

    /// Asks for the last words.
    explicit AgentServerSource(FindServer find_server);
    /// `complaint` is logged when a server does not answer.
    AgentServerSource(FindServer find_server, AskServer question, std::string complaint)
        : find_server_(std::move(find_server)),
          question_(std::move(question)),
          complaint_(std::move(complaint)) {}

    Result<std::string> server_of(const ConversationId& conversation_id) override;
    FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                          const std::stop_token& stop) override;

  private:
    void tell(const std::string& address, const FinalMessageReply& reply);

    const FindServer find_server_;
    const AskServer question_;
    const std::string complaint_;
    std::mutex mutex_;
    std::map<std::string, FinalMessageReply::Kind>
        told_;  ///< by address: the kind of failure that was logged last
};

/// Asks a conversation's server for the agent's last words: one call after the other, each with the time that
/// is left. A call that fails makes a reply of that kind.
FinalMessageReply last_words(const agent::ConversationCalls& calls, const FinalMessageQuery& query);

/// The reply that a failed call makes.
FinalMessageReply reply_of(const agent::AgentError& error);

/// Whether an agent server can know of the turn: none keeps V0's conversations, whose events have numbers.
bool may_have_server(const TurnEnd& turn);

/// nullopt when `query` still asks about the conversation's newest end (of a `timeout`: when no end stands in
/// its log); else the reply that it has gone on, or that of a failed call.
std::optional<FinalMessageReply> has_gone_on(const agent::ConversationCalls& calls,
                                             const FinalMessageQuery& query);

/// Whether `status_event` is the newest status in a log (or in its last part): nothing has begun since.
bool stands_at(const std::vector<agent::EventRef>& log, const std::string& status_event);

}  // namespace epilogue
