#define BOOST_TEST_MODULE fold_v0
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(generation_v0)

BOOST_AUTO_TEST_CASE(every_end_counts_when_it_arrives) {
    const std::vector<std::pair<std::string, std::string>> ends{
        {"finished", "1 finished by 3 \"Hm.\""},
        {"awaiting_user_input", "1 awaiting_user_input by 3 \"Hm.\""},
        {"rejected", "1 rejected by 3"},
        {"stopped", "1 stopped by 3"},
        {"error", "1 error by 3 [why: ]"}};
    for (const auto& [state, expected] : ends) {
        FoldRun fold_run;
        fold_run.read(
            {v0_user_says(1), v0_agent_says(2, "Hm."), v0_state(3, state, state == "error" ? "why" : "")});
        BOOST_TEST(fold_run.turns() == expected);
        BOOST_TEST(fold_run.turn_state() == "ended");
    }
}

BOOST_AUTO_TEST_CASE(an_error_has_its_reason_as_code) {
    FoldRun fold_run;
    fold_run.read(
        {v0_user_says(1), v0_state(2, "running"), v0_state(3, "error", "STATUS$ERROR_LLM_OUT_OF_CREDITS")});
    BOOST_TEST(fold_run.turns() == "1 error by 3 [STATUS$ERROR_LLM_OUT_OF_CREDITS: ]");
}

BOOST_AUTO_TEST_CASE(an_error_whose_reason_starts_with_the_stuck_error_is_stuck) {
    FoldRun fold_run;
    fold_run.read(
        {v0_user_says(1), v0_state(2, "error", "AgentStuckInLoopError: Agent got stuck in a loop")});
    BOOST_TEST(fold_run.turns() == "1 stuck by 2");
    FoldRun other;
    other.read({v0_user_says(1), v0_state(2, "error", "An AgentStuckInLoopError")});
    BOOST_REQUIRE(other.ended().size() == 1U);
    BOOST_TEST((other.ended()[0].verdict == Verdict::error));
}

BOOST_AUTO_TEST_CASE(awaiting_user_input_counts_only_after_the_agent_did_something) {
    FoldRun fold_run;
    fold_run.read({v0_state(0, "loading"), v0_state(1, "awaiting_user_input")});
    BOOST_TEST(fold_run.turn_state() == "none");
    fold_run.read({v0_user_says(2), v0_state(3, "awaiting_user_input")});
    BOOST_TEST(fold_run.turn_state() == "open 2");
    fold_run.read({v0_state(4, "running"), v0_agent_acts(5), v0_state(6, "awaiting_user_input")});
    BOOST_TEST(fold_run.turns() == "2 awaiting_user_input by 6");
}

BOOST_AUTO_TEST_CASE(opening_a_session_of_an_ended_conversation_ends_nothing_again) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_agent_finishes(2, "Hello."), v0_state(3, "finished"),
                   v0_state(4, "loading"), v0_state(5, "awaiting_user_input")});
    BOOST_TEST(fold_run.turns() == "1 finished by 3 \"Hello.\"");
    BOOST_TEST(fold_run.turn_state() == "ended");
}

BOOST_AUTO_TEST_CASE(stopped_as_the_first_thing_ever_seen_is_reported) {
    FoldRun fold_run;
    fold_run.read({v0_state(7, "stopped")});
    BOOST_TEST(fold_run.turns() == "start stopped by 7");
    FoldRun opened;
    opened.read({v0_state(0, "loading"), v0_state(1, "awaiting_user_input"), v0_state(2, "stopped")});
    BOOST_TEST(opened.turns() == "-");
}

BOOST_AUTO_TEST_CASE(
    awaiting_user_input_again_after_a_lost_running_counts_when_new_agent_words_stand_between) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_agent_says(2, "Which?"), v0_state(3, "awaiting_user_input")});
    fold_run.read({v0_agent_acts(4), v0_agent_says(5, "This?"), v0_agent_says(6, "Or that?")});
    BOOST_TEST(fold_run.turn_state() == "ended");
    fold_run.read({v0_state(7, "awaiting_user_input")});
    BOOST_TEST(fold_run.turns() ==
               "1 awaiting_user_input by 3 \"Which?\"; 5 awaiting_user_input by 7 \"Or that?\"");
    fold_run.read({v0_state(8, "awaiting_user_input")});
    BOOST_TEST(fold_run.ended().size() == 2U);
}

BOOST_AUTO_TEST_CASE(awaiting_user_input_again_without_new_agent_words_is_a_repeat) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_agent_says(2, "Which?"), v0_state(3, "awaiting_user_input"),
                   v0_agent_acts(4), v0_state(5, "loading"), v0_state(6, "awaiting_user_input")});
    BOOST_TEST(fold_run.turns() == "1 awaiting_user_input by 3 \"Which?\"");
}

BOOST_AUTO_TEST_CASE(words_after_another_end_than_a_question_open_nothing) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_state(2, "stopped"), v0_agent_says(3, "What was under way."),
                   v0_state(4, "loading"), v0_state(5, "awaiting_user_input")});
    BOOST_TEST(fold_run.turns() == "1 stopped by 2");
}

BOOST_AUTO_TEST_CASE(a_finish_without_text_leaves_no_earlier_word_as_the_last_one) {
    FoldRun fold_run;
    fold_run.read(
        {v0_user_says(1), v0_agent_says(2, "I begin."), v0_agent_finishes(3, ""), v0_state(4, "finished")});
    BOOST_TEST(fold_run.turns() == "1 finished by 4 \"\"");
}

BOOST_AUTO_TEST_CASE(running_after_an_end_opens_a_turn_keyed_by_its_id) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_state(2, "running"), v0_state(3, "error", "x"), v0_state(4, "running"),
                   v0_agent_finishes(5, "Ok."), v0_state(6, "finished")});
    BOOST_TEST(fold_run.turns() == "1 error by 3 [x: ]; 4 finished by 6 \"Ok.\"");
}

BOOST_AUTO_TEST_CASE(an_id_not_above_the_highest_applied_is_a_repeat_whatever_it_is) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(5), v0_agent_acts(7)});
    for (const std::int64_t id : {0, 5, 6, 7}) {
        fold_run.read({v0_state(id, "finished")});
        BOOST_TEST((fold_run.applied() == Applied::repeat));
    }
    BOOST_TEST(fold_run.turn_state() == "open 5");
}

BOOST_AUTO_TEST_CASE(the_id_0_is_an_id) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(0)});
    BOOST_TEST((fold_run.applied() == Applied::applied));
    BOOST_TEST(fold_run.turn_state() == "open 0");
}

BOOST_AUTO_TEST_CASE(timestamps_order_nothing) {
    Event word = v0_agent_finishes(2, "Done.");
    word.timestamp = fold_start - 24h;
    Event end = v0_state(3, "finished");
    end.timestamp = fold_start - 48h;
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), word, end});
    BOOST_TEST(fold_run.turns() == "1 finished by 3 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(rate_limits_pauses_and_confirmations_end_nothing) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_state(2, "running"), v0_state(3, "rate_limited"),
                   v0_state(4, "paused"), v0_state(5, "awaiting_user_confirmation"),
                   v0_state(6, "user_rejected")});
    BOOST_TEST(fold_run.settles().turn_state() == "open 1");
}

BOOST_AUTO_TEST_SUITE_END()
