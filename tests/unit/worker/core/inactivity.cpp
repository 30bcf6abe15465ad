// When the inactivity of an open turn counts as a timeout (contract §4a).
#define BOOST_TEST_MODULE inactivity
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

/// A turn that an agent works at, in the server's status `status`.
Conversation open_turn(const std::string& status_name) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), agent_acts("a1", 3s)});
    if (status_name != "running") fold_run.read({status("s1", 4s, status_name)});
    return fold_run.conversation();
}

/// As a callback sees it that was adopted so long after the conversation's last event.
InactivityRules adopted_after(const Conversation& conversation, std::chrono::seconds time) {
    InactivityRules rules;
    rules.after = 2h;
    rules.watched_since = *conversation.last_event_at + time;
    return rules;
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_is_measured_from_the_last_event) {
    const Conversation conversation = open_turn("running");
    const auto due = due_at(watch_inactivity(conversation, adopted_after(conversation, -60s)));
    BOOST_TEST((due == *conversation.last_event_at + 2h));
}

BOOST_AUTO_TEST_CASE(it_is_measured_anew_from_the_adoption_of_a_callback) {
    const Conversation conversation = open_turn("running");
    const auto rules = adopted_after(conversation, 90min);
    const Conversation watched = watch_inactivity(conversation, rules);
    BOOST_TEST((due_at(watched) == *rules.watched_since + 2h));
    BOOST_TEST(!would_time_out(watched, *conversation.last_event_at + 2h, rules));
    BOOST_TEST(would_time_out(watched, *rules.watched_since + 2h, rules));
}

BOOST_AUTO_TEST_CASE(without_a_callback_it_is_not_measured) {
    InactivityRules rules;
    BOOST_TEST(!due_at(watch_inactivity(open_turn("running"), rules)));
}

BOOST_DATA_TEST_CASE(it_does_not_run_while_inactivity_is_to_be_expected,
                     boost::unit_test::data::make({"paused", "waiting_for_confirmation", "rate_limited",
                                                   "awaiting_user_confirmation", "idle"}),
                     status_name) {
    const Conversation conversation = open_turn(status_name);
    BOOST_TEST(!due_at(watch_inactivity(conversation, adopted_after(conversation, 0s))));
}

BOOST_AUTO_TEST_CASE(idle_runs_once_the_agent_has_acted_since) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("i1", 2s, "idle"), agent_acts("a1", 3s)});
    const Conversation& conversation = fold_run.conversation();
    BOOST_TEST(due_at(watch_inactivity(conversation, adopted_after(conversation, 0s))).has_value());
}

namespace {

/// How an open turn times out that was last heard of at `heard`, with records lost at `gap`.
std::optional<TurnEnd> timed_out(std::optional<Instant> heard, std::optional<Instant> gap) {
    Conversation conversation = open_turn("running");
    conversation.heard_at = heard;
    FoldRules rules;
    rules.inactivity = adopted_after(conversation, 0s);
    rules.inactivity.gap_at = gap;
    conversation = watch_inactivity(std::move(conversation), rules.inactivity);
    const Instant due = *due_at(conversation);
    return tick(std::move(conversation), due, rules).conversation.last;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_inactivity_that_began_before_a_gap_may_be_an_end_that_was_lost) {
    for (const auto heard : {std::optional(fold_start), std::optional<Instant>()}) {
        const auto last = timed_out(heard, fold_start + 1s);
        BOOST_REQUIRE(last.has_value());
        BOOST_TEST((last->verdict == Verdict::timeout));
        BOOST_TEST(last->may_lie_in_gap);
    }
}

BOOST_AUTO_TEST_CASE(an_inactivity_of_a_conversation_that_was_heard_of_behind_the_gap_is_one) {
    BOOST_TEST(!timed_out(fold_start + 2s, fold_start + 1s)->may_lie_in_gap);
    BOOST_TEST(!timed_out(fold_start, std::nullopt)->may_lie_in_gap);
}

namespace {

/// Nothing was read of the conversation when records of its partition were found to be lost; a callback was
/// there a minute before.
InactivityRules lost_unread() {
    InactivityRules rules;
    rules.after = 2h;
    rules.watched_since = fold_start;
    rules.gap_at = fold_start + 60s;
    return rules;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_conversation_all_of_whose_events_are_gone_gets_a_turn_that_ends_by_its_silence) {
    FoldRules rules;
    rules.inactivity = lost_unread();
    const Conversation watched = watch_unread({}, rules.inactivity);
    const Instant due = fold_start + 60s + 2h;
    BOOST_TEST((due_at(watched) == due));
    BOOST_TEST(!would_time_out(watched, due - 1us, rules.inactivity));
    BOOST_TEST(would_time_out(watched, due, rules.inactivity));
    const Folded folded = tick(watched, due, rules);
    BOOST_REQUIRE(folded.ended.size() == 1);
    BOOST_TEST(folded.ended[0].turn_key == TurnKey("start"));
    BOOST_TEST((folded.ended[0].verdict == Verdict::timeout));
    BOOST_TEST(folded.ended[0].may_lie_in_gap);
    BOOST_TEST(tick(folded.conversation, due + 10h, rules).ended.empty());
    rules.inactivity.may_fire = false;
    BOOST_TEST(tick(watched, due, rules).ended.empty());
}

BOOST_AUTO_TEST_CASE(a_conversation_of_which_something_is_known_gets_no_such_turn) {
    const InactivityRules lost = lost_unread();
    InactivityRules nobody_waits = lost, nothing_lost = lost;
    nobody_waits.watched_since.reset();
    nothing_lost.gap_at.reset();
    BOOST_TEST(!due_at(watch_unread({}, nobody_waits)));
    BOOST_TEST(!due_at(watch_unread({}, nothing_lost)));
    Conversation heard;
    heard.heard_at = *lost.gap_at;
    BOOST_TEST(!due_at(watch_unread(heard, lost)));
    BOOST_TEST(!due_at(watch_unread(counted_once().conversation(), lost)));
}

BOOST_AUTO_TEST_CASE(the_first_event_of_such_a_conversation_takes_the_place_of_its_silence) {
    FoldRules rules;
    rules.inactivity = lost_unread();
    const Instant at = fold_start + 90s;
    const auto next = [&](const Event& event) {
        return fold(watch_unread({}, rules.inactivity), event, at, rules).conversation;
    };
    BOOST_TEST(told(next(user_says("u1", 80s)).turn_state) == "open u1");
    BOOST_TEST((due_at(next(user_says("u1", 80s))) == at + 2h));
    BOOST_TEST(!due_at(next(status("i1", 80s, "idle"))));
}

BOOST_AUTO_TEST_CASE(another_callback_puts_such_a_timeout_off_and_without_one_there_is_none) {
    InactivityRules rules = lost_unread();
    const Conversation watched = watch_unread({}, rules);
    rules.watched_since = fold_start + 600s;
    BOOST_TEST((due_at(watch_inactivity(watched, rules)) == fold_start + 600s + 2h));
    rules.watched_since.reset();
    BOOST_TEST(!due_at(watch_inactivity(watched, rules)));
}
