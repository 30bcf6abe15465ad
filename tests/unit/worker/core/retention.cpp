#define BOOST_TEST_MODULE retention
#include "worker/core/retention.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

const Instant limit = *parse_instant("2026-08-01T00:00:00Z");
const Instant old = limit - 1s;

OldDelivery sent() {
    return {.state = DeliveryState::sent, .over_at = old};
}
OldConversation silent() {
    return {.last_event_at = old};
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_younger_than_the_limit_stays) {
    OldDelivery delivery = sent();
    BOOST_TEST(may_remove(delivery, limit));
    delivery.over_at = limit;
    BOOST_TEST(!may_remove(delivery, limit));
    BOOST_TEST(!may_lose_body(delivery, limit));
    BOOST_TEST(may_remove(OldSummary{.created_at = old}, limit));
    BOOST_TEST(!may_remove(OldSummary{.created_at = limit}, limit));
    BOOST_TEST(may_remove(silent(), limit));
    BOOST_TEST(!may_remove(OldConversation{.last_event_at = limit}, limit));
    BOOST_TEST(!may_remove(OldConversation{}, limit));
}

BOOST_AUTO_TEST_CASE(a_delivery_that_is_not_over_keeps_its_row_and_its_body_however_old) {
    for (const DeliveryState state : {DeliveryState::planned, DeliveryState::sending, DeliveryState::unknown,
                                      DeliveryState::retry, DeliveryState::parked}) {
        OldDelivery delivery = sent();
        delivery.state = state;
        BOOST_TEST(!may_lose_body(delivery, limit), name_of(state));
        BOOST_TEST(!may_remove(delivery, limit), name_of(state));
    }
    OldDelivery failed = sent();
    failed.state = DeliveryState::failed;
    BOOST_TEST(may_remove(failed, limit));
}

BOOST_AUTO_TEST_CASE(a_delivery_that_is_held_or_to_be_checked_keeps_its_body) {
    OldDelivery held = sent();
    held.is_leased = true;
    BOOST_TEST(!may_lose_body(held, limit));
    OldDelivery to_be_checked = sent();
    to_be_checked.is_to_be_checked = true;
    BOOST_TEST(!may_lose_body(to_be_checked, limit));
}

BOOST_AUTO_TEST_CASE(the_ledger_of_a_conversation_that_is_known_stays_because_repeats_are_recognised_by_it) {
    OldDelivery delivery = sent();
    delivery.knows_conversation = true;
    BOOST_TEST(!may_remove(delivery, limit));
    BOOST_TEST(may_lose_body(delivery, limit));
}

BOOST_AUTO_TEST_CASE(a_summary_stays_while_it_is_owed_or_a_post_of_its_turn_is_not_over) {
    BOOST_TEST(!may_remove(OldSummary{.is_owed = true, .created_at = old}, limit));
    BOOST_TEST(!may_remove(OldSummary{.created_at = old, .has_open_delivery = true}, limit));
}

BOOST_AUTO_TEST_CASE(a_conversation_stays_while_it_is_open_due_watched_owed_or_asked_about) {
    for (bool OldConversation::*keeps :
         {&OldConversation::is_open, &OldConversation::has_timer, &OldConversation::is_watched,
          &OldConversation::is_owed, &OldConversation::is_asked}) {
        OldConversation conversation = silent();
        conversation.*keeps = true;
        BOOST_TEST(!may_remove(conversation, limit));
    }
}

BOOST_AUTO_TEST_CASE(limits_are_counted_back_from_now) {
    const RetentionLimits limits = retention_limits({.bodies = std::chrono::days(1)}, limit);
    BOOST_TEST((limits.bodies == limit - 24h));
    BOOST_TEST((limits.ledger == limit - 24h * 400));
    BOOST_TEST((limits.conversations == limit - 24h * 90));
    BOOST_TEST((limits.dead_letters == limit - 24h * 30));
}
