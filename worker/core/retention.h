// What may be removed once it is older than [retention] says (contract §5). Pure: facts of a row -> yes or
// no. What is still owed, watched, open, or needed to recognise a repeat stays, however old it is.
#pragma once

#include <chrono>
#include <optional>

#include "base/instant.h"
#include "worker/core/delivery.h"

namespace epilogue {

struct RetentionRules {
    std::chrono::days bodies{30};
    std::chrono::days ledger{400};
    std::chrono::days conversations{90};
    std::chrono::days dead_letters{30};
};

/// What is older than these instants is too old.
struct RetentionLimits {
    Instant bodies;
    Instant ledger;
    Instant conversations;
    Instant dead_letters;
};
RetentionLimits retention_limits(const RetentionRules& rules, Instant now);

struct OldDelivery {
    DeliveryState state{};
    Instant over_at;                  ///< when it was sent, else when it became owed
    bool is_leased = false;           ///< a sender holds it
    bool is_to_be_checked = false;    ///< for duplicates
    bool knows_conversation = false;  ///< its conversation's row is there
};
/// Whether its body may go: nothing will be sent, looked for or compared with it any more.
bool may_lose_body(const OldDelivery& delivery, Instant limit);
/// Whether the whole row may go. While its conversation is known it is what a repeat or a late registration
/// is recognised by.
bool may_remove(const OldDelivery& delivery, Instant limit);

struct OldSummary {
    bool is_owed = false;  ///< not frozen yet
    Instant created_at;
    bool has_open_delivery = false;  ///< of its turn, one that is neither SENT nor FAILED
};
bool may_remove(const OldSummary& summary, Instant limit);

struct OldConversation {
    std::optional<Instant> last_event_at;
    bool is_open = false;     ///< a turn is open
    bool has_timer = false;   ///< something is due: a candidate settles, an inactivity is measured
    bool is_watched = false;  ///< by a callback that is not over, dormant ones among them
    bool is_owed = false;     ///< a delivery is not final, or is to be checked
    bool is_asked = false;    ///< its agent server is to be asked
};
bool may_remove(const OldConversation& conversation, Instant limit);

}  // namespace epilogue
