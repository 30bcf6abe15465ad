// Who can say more of a turn's end than its log: the agent server (worker/agents/agent_server_source.h), or a
// simulated one.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

struct FinalMessageQuery {
    TurnId turn;
    std::string status_event;  ///< id of the status that ended it
    bool lacks_words = false;  ///< the log's own last words are missing or cut
};

struct FinalMessageReply {
    enum class Kind {
        confirmed,      ///< the conversation stands at that end
        not_confirmed,  ///< it has gone on, or its server knows no such end
        refused,        ///< the server does not tell us
        unreachable,    ///< nobody answers there
        late,           ///< no answer in time
        stopped,        ///< we gave up, because we are to stop
    };
    Kind kind = Kind::late;
    std::string words;  ///< of a confirmed end: the agent's last ones; "": no others than the log has
    std::string cause;  ///< why it is not confirmed; never holds a secret
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

    /// The address of the server that has the conversation; "" when there is none to ask. Errors: the
    /// database's.
    virtual Result<std::string> server_of(const std::string& conversation_id) = 0;
    /// Asks it; answers within that time, and soon after a stop.
    virtual FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                                  const std::stop_token& stop) = 0;
};

}  // namespace epilogue
