// What one transaction of a partition's owner changes: the locked rows, and what records and timers make of
// them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "worker/apply/batch.h"
#include "worker/core/server_log.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/partition_rows.h"

namespace epilogue {

/// What a conversation's agent server had to tell.
enum class Recovered {
    silent,  ///< nothing that was not known
    alive,   ///< more, but no end
    ended,   ///< a turn has ended
};
std::string_view name_of(Recovered recovered);

/// Lives inside one Store::transact work.
class Transition {
  public:
    Transition(Transaction& transaction, const Planner& planner, const BatchRules& rules, PartitionRow locked,
               Instant database_now);

    PartitionRow partition;  ///< written back at the end
    BatchReport report;
    std::optional<Instant> next_due;  ///< of the partition, as far as this transaction knows
    bool has_records = false;         ///< it applies records, and not only timers

    /// Locks and reads the conversations (ascending ids) and their callbacks.
    Result<void> load(const std::vector<ConversationId>& ids, int partition_id);

    /// Lets the partition's clock come to `to`: never later than the database's time, never back. Returns it.
    Instant advance_clock(Instant to);

    /// Applies one event. Its conversation is loaded, unless the event is for watchers and it has none.
    Result<Applied> apply(const Event& event, const ConversationId& conversation_id, Instant at,
                          const Source& source);

    /// Fires what is due at `now` in the loaded conversations, as far as the mass-timeout guard lets it.
    Result<void> tick_all(Instant now, const Source& source);

    /// Applies what the agent server's log holds of the one loaded conversation and is not known of it. Of a
    /// conversation of which nothing was known, each callback is told what it would have been told had it
    /// been registered where its adoption falls in the log.
    Result<Recovered> replay_agent_log(const ServerLog& log, const Source& source);

    /// No server says that the one loaded conversation is alive: its timeout counts when it is due.
    void let_inactivity_count();

    /// No server can tell what was lost of the one loaded conversation: where nothing was ever read of it,
    /// its timeout counts in its time.
    void watch_unread();

    /// Writes all of it, the partition's row excepted.
    Result<void> write();

    /// The earliest timer among the loaded conversations, suspended ones left out.
    std::optional<Instant> earliest_due() const;

    /// True when so many turns are inactive at `now` that it must be a broken relay (contract §4a). Asked
    /// once.
    Result<bool> is_mass_timeout(Instant now);

  private:
    std::vector<CallbackRow*>& callbacks_of(const ConversationId& conversation_id) {
        return callbacks_of_[conversation_id];
    }
    FoldRules rules_for(const ConversationId& conversation_id);
    void keep(StoredConversation& stored, Folded folded, const Source& source);
    /// Whether the conversation's agent server is asked first before its inactivity counts.
    Result<bool> ask_agent_server(StoredConversation& stored);
    /// Callbacks begin to watch, in the middle of a log or at its end.
    Result<void> start_watching(StoredConversation& stored, const std::vector<CallbackRow*>& callbacks);
    void take(const ConversationId& conversation_id, const std::vector<TurnEnd>& ended, const Source& source);

    Transaction& transaction_;
    const Planner& planner_;
    const BatchRules& rules_;
    const Instant database_now_;
    std::vector<StoredConversation> conversations_;  ///< ascending by id
    std::vector<CallbackRow> callbacks_;
    std::unordered_map<ConversationId, std::vector<CallbackRow*>> callbacks_of_;
    std::optional<bool> mass_timeout_;
    Plan plan_;
};

}  // namespace epilogue
