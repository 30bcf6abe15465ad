// From counted turns to owed posts, inside the transaction that counted them: steps the callbacks, freezes
// the summary, inserts the deliveries. Shared by the batch, the timers and late registration.
#pragma once

#include <string>
#include <vector>

#include "worker/core/summarise.h"
#include "worker/store.h"

namespace epilogue {

/// What a turn of which conversation came from, for the ledger.
struct Source {
    std::optional<int> partition;
    std::optional<std::int64_t> offset;
    std::optional<Instant> at;  ///< the partition's clock then: since when its posts are due
};

struct Plan {
    std::vector<SummaryRow> summaries;
    std::vector<DeliveryRow> deliveries;
    std::vector<std::int64_t> changed_callbacks;
};

class Planner {
  public:
    /// `installation_id` is the name space of delivery ids (contract §6).
    Planner(std::string installation_id, SummaryRules rules)
        : installation_id_(std::move(installation_id)), rules_(std::move(rules)) {}

    /// Steps `callbacks` (all of that conversation; changed in place) with one counted turn and adds to
    /// `plan`.
    void add(const std::string& conversation_id, const TurnEnd& turn, const Source& source,
             std::vector<CallbackRow*> callbacks, Plan& plan) const;

    /// Writes a plan: callback states, summaries, deliveries. Returns the ids of deliveries that are new.
    Result<std::vector<std::string>> write(Transaction& transaction, const Plan& plan,
                                           const std::vector<CallbackRow>& callbacks) const;

    /// contract §6: UUIDv5(installation_id, callback_id '\0' conversation_id '\0' turn_key).
    std::string delivery_id(std::int64_t callback_id, const std::string& conversation_id,
                            const std::string& turn_key) const;

    /// The summary of a turn as add() freezes it.
    Summary summary_of(const TurnEnd& turn, const std::string& conversation_id) const;

  private:
    std::string installation_id_;
    SummaryRules rules_;
};

}  // namespace epilogue
