// The batch rule (architecture §1.3): records of one partition, or its due timers, become ONE transaction
// that moves conversations, callbacks, deliveries, dead letters and the partition's stored position together.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/record.h"
#include "schemas/decode.h"
#include "worker/apply/planner.h"
#include "worker/core/fold.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/partition_rows.h"
#include "worker/store/store.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

/// The right to move a partition, until another owner claims it.
struct Claim {
    PartitionKey key;
    std::string cluster_id;
    std::string topic_id;  ///< empty: not known
    std::string owner;
    Generation generation;
    NextOffset position;  ///< stored: where the next batch starts
    std::int64_t sequence = 0;
    std::optional<Instant> next_due;          ///< earliest pending timer, as far as known
    std::optional<Instant> clock;             ///< the partition's
    Instant applied_at;                       ///< database time of the last records applied, or of the claim
    std::optional<RecordFingerprint> last;    ///< record applied
    std::optional<RecordFingerprint> anchor;  ///< one that is known to be of the log that is read
};

struct BatchReport {
    std::map<std::pair<std::string, std::string>, std::int64_t> outcomes;  ///< (schema, outcome) -> records
    std::vector<Verdict> counted;                                          ///< one for each turn that ended
    std::vector<DeadLetterRow> dead;     ///< records that became dead letters
    std::vector<std::string> summaries;  ///< source of each summary frozen
    std::vector<TurnId> owed;            ///< turns whose summary is to be asked for
    struct Planned {
        DeliveryRow row;
        bool waits = false;  ///< for its summary
    };
    std::vector<Planned> planned;  ///< new deliveries, to be handed to the senders
    std::int64_t known = 0;        ///< deliveries that the ledger had already
    std::int64_t suspended = 0;    ///< timeouts that the mass-timeout guard kept back
};

struct BatchRules {
    std::chrono::milliseconds settle{2000};
    std::chrono::seconds hook_wait{600};  ///< how long a `finished` waits for what a stop hook says
    std::chrono::seconds inactivity{7200};
    bool guard_mass_timeouts = true;    ///< many timeouts at once are one broken relay
    bool default_agent_server = false;  ///< every conversation has an agent server to ask
    std::chrono::seconds agent_answers_in{
        40};                       ///< how long an inactivity waits for what the agent server says
    std::size_t max_timers = 500;  ///< conversations in one timer transaction
};

class Transition;

/// One thread at a time.
class Batch {
  public:
    Batch(Store& store, const Planner& planner, BatchRules rules)
        : store_(store), planner_(planner), rules_(rules) {}

    /// Applies the records (ascending offsets, all of the claim's partition) and moves `claim` on.
    /// Data that only the database refuses are isolated by halving and become dead letters ("store_<errno>").
    /// Errors: fenced (fence.h): drop the partition; Remedy::retry: nothing is stored, try the same again
    /// later.
    Result<BatchReport> apply(Claim& claim, std::span<const RecordView> records);

    /// Whether the database's time may be taken for the clock of a partition that is read to its end: not
    /// before `settle` has passed since its last records. They may have come late, with old timestamps, and
    /// what takes a `finished` back is then still on its way behind it.
    bool may_follow_database(const Claim& claim, Instant now) const {
        return now - claim.applied_at >= rules_.settle;
    }

    /// Lets the partition's clock come to `clock` and steps what is due then; `caught_up`: the log's end,
    /// when the broker has nothing that was not applied.
    Result<BatchReport> tick(Claim& claim, Instant clock, std::optional<NextOffset> caught_up);

  private:
    struct Item;

    std::vector<Item> decode_all(std::span<const RecordView> records);
    Result<BatchReport> apply_items(Claim& claim, std::span<const Item> items);
    Result<BatchReport> commit(Claim& claim,
                               const std::function<Result<void>(Transaction&, Transition&)>& change);

    Store& store_;
    const Planner& planner_;
    BatchRules rules_;
    Decoder decoder_;
};

}  // namespace epilogue
