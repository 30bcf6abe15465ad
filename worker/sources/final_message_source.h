// The port to what knows a turn's words better than the topic once it is asked: an agent server
// (worker/sources/agent_server_source.h), or a simulated one.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

/// A question about the end of a turn.
struct FinalMessageQuery {
    TurnId turn;
    std::string status_event;   ///< id of the status that ended it
    bool lacks_words = false;   ///< the log's own last words are missing or cut
    std::string made_by = {};   ///< the summary source whose words stand as long as there is no answer
    std::string headline = {};  ///< of the summary as it stands
    std::string facts = {};     ///< likewise: the lines of its digest
};

/// What came of it.
struct FinalMessageReply {
    enum class Kind {
        confirmed,      ///< nothing has begun since that end
        not_confirmed,  ///< the conversation has gone on, or its server knows no such end
        refused,        ///< the server refuses to say, or there is none
        unreachable,    ///< no connection
        late,           ///< no answer in time
        stopped,        ///< given up: the worker stops
    };
    Kind kind = Kind::late;
    std::string words;  ///< of a confirmed end: the agent's final message; "": no other than the log has
    std::string cause;  ///< why it is not confirmed; never holds a secret
    std::string source = {};  ///< the name of the summary source that has the words
    bool is_spent = false;    ///< to ask again would cost again, and be of no more use
};
/// As metrics spell it: "confirmed", "not_confirmed", …
std::string_view name_of(FinalMessageReply::Kind kind);

/// Thread-safe.
class FinalMessageSource {
  public:
    FinalMessageSource() = default;
    FinalMessageSource(const FinalMessageSource&) = delete;
    FinalMessageSource& operator=(const FinalMessageSource&) = delete;
    virtual ~FinalMessageSource() = default;

    /// The address of the server that has the conversation; "": there is none. Errors: the database's.
    virtual Result<std::string> server_of(const ConversationId& conversation_id) = 0;
    /// Asks it; answers within that time, and soon after a stop.
    virtual FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                                  const std::stop_token& stop) = 0;
};

}  // namespace epilogue
