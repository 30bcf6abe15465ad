// From counted turns to owed posts, inside the transaction that counted them: steps the callbacks, freezes
// the summary or leaves it owed until the agent server has been asked, inserts the deliveries. Shared by the
// batch, the timers and late registration.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "worker/core/summarise.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

struct Processor;

/// What a turn of which conversation came from, for the ledger.
struct Source {
    std::optional<int> partition;
    std::optional<std::int64_t> offset;
    std::optional<Instant> at;  ///< the partition's clock then: since when its posts are due
};

struct Plan {
    std::vector<SummaryRow> summaries;
    std::vector<DeliveryRow> deliveries;
    std::vector<CallbackId> changed_callbacks;
    std::set<TurnId> serverless;   ///< whose summary can be asked for without an agent server
    std::set<DeliveryId> waiting;  ///< ids of deliveries whose summary is owed; known once it is written
};

/// Whether agent servers are asked for an agent's last words.
struct AskRules {
    bool by_default = false;  ///< conversations without an agent server of their own have one, too
    std::chrono::milliseconds deadline{120'000};  ///< so long after the turn was counted its posts are due
};

class Planner {
  public:
    /// `installation_id` is the name space of delivery ids (contract §6).
    Planner(std::string installation_id, SummaryRules rules, AskRules asking = {})
        : installation_id_(std::move(installation_id)), rules_(std::move(rules)), asking_(asking) {}

    /// Steps `callbacks` (all of that conversation; changed in place) with one counted turn and adds to
    /// `plan`.
    void add(const ConversationId& conversation_id, const TurnEnd& turn, const Source& source,
             std::vector<CallbackRow*> callbacks, Plan& plan) const;

    /// The same with a notice: the callbacks are not changed.
    void add(const ConversationId& conversation_id, const Notice& notice, const Source& source,
             const std::vector<CallbackRow*>& callbacks, Plan& plan) const;

    /// Writes a plan: callback states, summaries, deliveries. Returns the ids of deliveries that are new.
    Result<std::vector<DeliveryId>> write(Transaction& transaction, Plan& plan,
                                          const std::vector<CallbackRow>& callbacks) const;

    /// contract §6: UUIDv5(installation_id, callback_id '\0' conversation_id '\0' turn_key).
    DeliveryId delivery_id(CallbackId callback_id, const ConversationId& conversation_id,
                           const TurnKey& turn_key) const;

    /// The summary of a turn as add() freezes it.
    MadeSummary summary_of(const TurnEnd& turn, const ConversationId& conversation_id) const;

  private:
    DeliveryRow delivery_of(const CallbackRow& callback, const Processor& processor,
                            const PlanDelivery& planned, const Source& source) const;
    Result<void> decide_what_is_owed(Transaction& transaction, Plan& plan) const;

    std::string installation_id_;
    SummaryRules rules_;
    AskRules asking_;
};

}  // namespace epilogue
