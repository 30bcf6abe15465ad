// Goals (contract §4): rounds end nothing, the goal does.
#define BOOST_TEST_MODULE fold_goals
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"
#include "worker/core/conversation_row.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

/// Two rounds of a goal that goes on, the second one's end read.
FoldRun two_rounds() {
    FoldRun fold_run;
    fold_run.read({goal("g0", 0s, "running", 0), user_says("u1", 1s), status("r1", 2s, "running"),
                   agent_finishes("a1", 3s, "Round 1."), status("f1", 4s, "finished")});
    fold_run.after(1h);
    fold_run.read({goal("g1", 10s, "running", 1), status("i1", 11s, "idle"), user_says("u2", 12s),
                   status("r2", 13s, "running"), agent_finishes("a2", 14s, "Round 2."),
                   status("f2", 15s, "finished")});
    return fold_run.after(1h);
}

}  // namespace

BOOST_AUTO_TEST_CASE(while_a_goal_goes_on_finished_ends_nothing) {
    FoldRun fold_run = two_rounds();
    BOOST_TEST(fold_run.settles().turns() == "-");
    BOOST_TEST(fold_run.turn_state() == "open u1 finish \"Round 2.\"");
}

BOOST_AUTO_TEST_CASE(a_reached_goal_ends_the_turn_with_the_last_words_of_its_last_round) {
    FoldRun fold_run = two_rounds();
    fold_run.read({goal("g2", 20s, "complete", 2)});
    BOOST_TEST(fold_run.turns() == "u1 finished by g2 \"Round 2.\"");
    BOOST_TEST(!fold_run.ended().front().digest.goal.has_value());
    BOOST_TEST(fold_run.settles().read({goal("g2", 20s, "complete", 2)}).turns() ==
               "u1 finished by g2 \"Round 2.\"");
}

BOOST_AUTO_TEST_CASE(a_reached_goal_is_finished_also_when_its_last_word_is_a_message) {
    FoldRun fold_run;
    fold_run.read({goal("g0", 0s, "running", 0), user_says("u1", 1s), agent_says("a1", 3s, "It is done."),
                   status("f1", 4s, "finished"), goal("g1", 9s, "complete", 1)});
    BOOST_TEST(fold_run.turns() == "u1 finished by g1 \"It is done.\"");
}

BOOST_AUTO_TEST_CASE(capped_and_interrupted_goals_end_the_turn_and_the_digest_names_them) {
    for (const char* outcome : {"capped", "interrupted"}) {
        FoldRun fold_run = two_rounds();
        fold_run.read({goal("g2", 20s, outcome, 2)});
        BOOST_TEST(fold_run.turns() == "u1 finished by g2 \"Round 2.\"");
        const auto& named = fold_run.ended().front().digest.goal;
        BOOST_REQUIRE(named.has_value());
        BOOST_TEST(named->is_capped == (std::string_view(outcome) == "capped"));
        BOOST_TEST(named->rounds == 2);
        BOOST_TEST(named->max_rounds == 5);
    }
}

BOOST_AUTO_TEST_CASE(a_capped_goal_whose_last_word_is_a_message_waits_for_the_user) {
    FoldRun fold_run;
    fold_run.read({goal("g0", 0s, "running", 0), user_says("u1", 1s), agent_says("a1", 3s, "Which?"),
                   status("f1", 4s, "finished"), goal("g1", 9s, "capped", 1)});
    BOOST_TEST(fold_run.turns() == "u1 awaiting_user_input by g1 \"Which?\"");
}

BOOST_AUTO_TEST_CASE(a_stuck_round_ends_nothing_and_an_error_ends_the_turn) {
    FoldRun fold_run;
    fold_run.read({goal("g0", 0s, "running", 0), user_says("u1", 1s), status("s1", 4s, "stuck")});
    BOOST_TEST(fold_run.settles().turns() == "-");
    fold_run.read({status("r1", 5s, "running"), status("e1", 6s, "error"), goal("g1", 7s, "interrupted", 0)});
    BOOST_TEST(fold_run.settles().turns() == "u1 error by e1");
    BOOST_TEST(fold_run.read({status("f1", 8s, "finished")}).settles().turns() == "u1 error by e1");
}

BOOST_AUTO_TEST_CASE(after_its_goal_a_conversation_ends_its_turns_by_finished_again) {
    FoldRun fold_run = two_rounds();
    fold_run.read({goal("g2", 20s, "complete", 2), user_says("u3", 30s), agent_finishes("a3", 31s, "Thanks."),
                   status("f3", 32s, "finished")});
    BOOST_TEST(fold_run.settles().ended().size() == 2U);
    BOOST_TEST(told(fold_run.ended().back()) == "u3 finished by f3 \"Thanks.\"");
}

BOOST_AUTO_TEST_CASE(a_goal_that_begins_leaves_the_turn_before_it_alone) {
    FoldRun fold_run = finished_once();
    fold_run.read({goal("g0", 5s, "running", 0), user_says("u2", 6s)});
    BOOST_TEST(fold_run.turns() == "u1 finished by f1 \"Done.\"");
    BOOST_TEST(fold_run.turn_state() == "open u2");
}

BOOST_AUTO_TEST_CASE(a_goal_whose_beginning_was_not_read_takes_the_rounds_finished_back) {
    FoldRun fold_run = finished_once();
    fold_run.read({goal("g1", 5s, "running", 1)});
    BOOST_TEST(fold_run.settles().turn_state() == "open u1 finish \"Done.\"");
}

BOOST_AUTO_TEST_CASE(an_older_update_of_a_goal_says_nothing) {
    FoldRun fold_run = two_rounds();
    fold_run.read({goal("g2", 20s, "complete", 2), goal("gx", 19s, "running", 1), user_says("u3", 30s),
                   status("f3", 32s, "finished")});
    BOOST_TEST(fold_run.settles().ended().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_goal_survives_its_row) {
    const ConversationRow row = to_row(two_rounds().conversation());
    const auto read = from_row(row);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST((read->goal == two_rounds().conversation().goal));
    const Folded ended = fold(*read, goal("g2", 20s, "capped", 2), fold_start + 2h, {});
    BOOST_REQUIRE(ended.ended.size() == 1U);
    const auto again = from_row(to_row(ended.conversation));
    BOOST_REQUIRE(again.has_value());
    BOOST_TEST((again->last->digest == ended.ended.front().digest));
}
