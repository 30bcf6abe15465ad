#include "worker/core/retention.h"

namespace epilogue {

RetentionLimits retention_limits(const RetentionRules& rules, Instant now) {
    return {now - rules.bodies, now - rules.ledger, now - rules.conversations, now - rules.dead_letters};
}

bool may_lose_body(const OldDelivery& delivery, Instant limit) {
    return is_final(delivery.state) && delivery.over_at < limit && !delivery.is_leased &&
           !delivery.is_to_be_checked;
}

bool may_remove(const OldDelivery& delivery, Instant limit) {
    return may_lose_body(delivery, limit) && !delivery.knows_conversation;
}

bool may_remove(const OldSummary& summary, Instant limit) {
    return !summary.is_owed && summary.created_at < limit && !summary.has_open_delivery;
}

bool may_remove(const OldConversation& conversation, Instant limit) {
    return conversation.last_event_at && *conversation.last_event_at < limit && !conversation.is_open &&
           !conversation.has_timer && !conversation.is_watched && !conversation.is_owed &&
           !conversation.is_asked;
}

}  // namespace epilogue
