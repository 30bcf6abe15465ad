// Our own instruction to an agent, and what the agent does because of it: no turn's (contract §4).
#define BOOST_TEST_MODULE fold_instructed
#include <boost/test/unit_test.hpp>

#include "schemas/instruction.h"
#include "tests/unit/worker/core/fold_run.h"
#include "worker/core/conversation_row.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

Event instructed(std::string id, Micros at) {
    return status(std::move(id), at, std::string(instructed_status));
}

/// A turn that was counted, and our instruction behind it.
FoldRun instructed_once() {
    return counted_once().read({status("i1", 20s, "idle"), instructed("m1", 21s)});
}

const std::string counted = counted_once().turns();

}  // namespace

BOOST_AUTO_TEST_CASE(from_our_instruction_to_the_next_end_nothing_opens_or_ends_a_turn) {
    for (const char* end : {"finished", "error", "stuck"}) {
        FoldRun fold_run = instructed_once();
        fold_run.read({status("r2", 22s, "running"), agent_acts("a2", 23s),
                       agent_says("w2", 24s, "A summary."), status("f2", 25s, end)});
        BOOST_TEST(fold_run.settles().turns() == counted);
        BOOST_TEST(fold_run.turn_state() == "ended");
        BOOST_TEST(fold_run.conversation().status == end);
        fold_run.read({error_detail("d2", 26s, "LLMBadRequestError", "no"), status("x2", 26s, end)});
        BOOST_TEST(fold_run.settles().turns() == counted);
    }
}

BOOST_AUTO_TEST_CASE(the_next_message_opens_a_turn_as_ever) {
    FoldRun fold_run = instructed_once();
    fold_run.read({status("r2", 22s, "running"), agent_finishes("a2", 23s, "A summary."),
                   status("f2", 24s, "finished"), user_says("u2", 30s), status("r3", 31s, "running"),
                   agent_finishes("a3", 32s, "More done."), status("f3", 33s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == counted + "; u2 finished by f3 \"More done.\"");
}

BOOST_AUTO_TEST_CASE(another_message_opens_one_before_the_end_too) {
    FoldRun fold_run = instructed_once();
    fold_run.read({status("r2", 22s, "running"), user_says("u2", 23s),
                   agent_finishes("a2", 24s, "Both done."), status("f2", 25s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == counted + "; u2 finished by f2 \"Both done.\"");
}

BOOST_AUTO_TEST_CASE(a_turn_that_a_person_opened_before_ends_as_it_would_have_without_it) {
    FoldRun fold_run = counted_once();
    fold_run.read({user_says("u2", 20s), status("r2", 21s, "running"), instructed("m1", 22s),
                   agent_finishes("a2", 23s, "Both done."), status("f2", 24s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == counted + "; u2 finished by f2 \"Both done.\"");
}

BOOST_AUTO_TEST_CASE(an_end_that_still_stands_is_counted_by_it) {
    FoldRun fold_run = finished_once();
    fold_run.read({instructed("m1", 21s), status("r2", 22s, "running"), agent_says("w2", 23s, "A summary."),
                   status("f2", 24s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == counted);
}

BOOST_AUTO_TEST_CASE(a_log_that_begins_with_it_has_no_turn_in_it) {
    FoldRun fold_run;
    fold_run.read({instructed("m1", 21s), status("r2", 22s, "running"),
                   agent_finishes("a2", 23s, "A summary."), status("f2", 24s, "finished")});
    BOOST_TEST(fold_run.settles().turns() == "-");
}

BOOST_AUTO_TEST_CASE(what_is_read_again_changes_nothing_and_the_row_remembers_it) {
    FoldRun fold_run = instructed_once();
    const auto row = to_row(fold_run.conversation());
    const auto read = from_row(row);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(read->status == instructed_status);
    const std::vector<Event> rest{status("r2", 22s, "running"), agent_finishes("a2", 23s, "A summary."),
                                  status("f2", 24s, "finished")};
    fold_run.read(rest).read({instructed("m1", 21s)}).read(rest);
    BOOST_TEST(fold_run.settles().turns() == counted);
    BOOST_TEST(fold_run.conversation().status == "finished");
}

BOOST_AUTO_TEST_CASE(v0_knows_it_too) {
    FoldRun fold_run;
    fold_run.read({v0_user_says(1), v0_state(2, "running"), v0_agent_finishes(3, "Done."),
                   v0_state(4, "finished"), v0_event(5, StatusChange{std::string(instructed_status), ""}),
                   v0_state(6, "running"), v0_agent_says(7, "A summary."),
                   v0_state(8, "awaiting_user_input")});
    BOOST_TEST(fold_run.turns() == "1 finished by 4 \"Done.\"");
}

BOOST_AUTO_TEST_CASE(an_end_that_overtook_our_instruction_is_its_own_and_ends_no_later_turn) {
    FoldRun fold_run = counted_once();
    fold_run.read(
        {agent_says("w2", 24s, "A summary."), status("f2", 25s, "finished"), instructed("m1", 21s)});
    BOOST_TEST(fold_run.conversation().status == "finished");
    fold_run.read({user_says("u2", 23s)});
    BOOST_TEST(fold_run.settles().turns() == counted);
    BOOST_TEST(fold_run.turn_state() == "open u2");
}

BOOST_AUTO_TEST_CASE(what_was_told_before_it_of_a_later_turn_does_not_end_the_instruction) {
    FoldRun fold_run = instructed_once();
    fold_run.read({status("f2", 22s, "finished")});
    BOOST_TEST(!fold_run.conversation().early_end.has_value());
}
