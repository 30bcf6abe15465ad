// Where a turn came from: the place that all of its user messages name (contract §4 "Turns").
#define BOOST_TEST_MODULE fold_origin
#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

Event says_from(const std::string& origin, const std::string& id, Micros at) {
    return v1_event(id, at, UserMessage{origin});
}

/// The origins of the turns that have ended, each in brackets.
std::string origins(const FoldRun& fold_run) {
    std::string text;
    for (const TurnEnd& turn : fold_run.ended()) text += "[" + turn.origin + "]";
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_turn_has_the_place_that_all_its_messages_came_from) {
    const auto turn_of = [](const std::vector<std::string>& places) {
        FoldRun fold_run;
        auto at = 1s;
        for (const std::string& place : places) {
            fold_run.read({says_from(place, "u" + std::to_string(at.count()), at)});
            at += 1s;
        }
        return origins(fold_run.read({status("f1", 20s, "finished")}).settles());
    };
    BOOST_TEST(turn_of({"a"}) == "[a]");
    BOOST_TEST(turn_of({"a", "a"}) == "[a]");
    BOOST_TEST(turn_of({"a", "b"}) == "[]");
    BOOST_TEST(turn_of({"a", ""}) == "[]");
    BOOST_TEST(turn_of({"", "a"}) == "[]");
    BOOST_TEST(turn_of({"a", "b", "a"}) == "[]");
}

BOOST_AUTO_TEST_CASE(each_turn_has_its_own) {
    FoldRun fold_run;
    fold_run.read({says_from("a", "u1", 1s), status("f1", 2s, "finished"), says_from("b", "u2", 3s),
                   status("f2", 4s, "finished"), user_says("u3", 5s), status("f3", 6s, "finished")});
    BOOST_TEST(origins(fold_run.settles()) == "[a][b][]");
    BOOST_TEST(fold_run.conversation().last->origin == "");
}

BOOST_AUTO_TEST_CASE(a_turn_that_no_message_opened_has_none) {
    FoldRun resumed;
    resumed.read({says_from("a", "u1", 1s), status("f1", 2s, "finished")}).settles();
    resumed.read({status("r2", 5s, "running"), status("f2", 6s, "finished")}).settles();
    BOOST_TEST(origins(resumed) == "[a][]");
    FoldRun unseen;
    unseen.read({agent_acts("a1", 1s), says_from("a", "u2", 2s), status("f1", 3s, "finished")}).settles();
    BOOST_TEST(unseen.turns() == "start finished by f1");
    BOOST_TEST(origins(unseen) == "[]");
}

BOOST_AUTO_TEST_CASE(a_message_that_is_told_late_counts_as_the_others_do) {
    // The opening comes behind what it opened, and is the turn's after all.
    FoldRun late;
    late.read({agent_acts("a1", 2s), says_from("a", "u1", 1s), status("f1", 3s, "finished")}).settles();
    BOOST_TEST(late.turns() == "u1 finished by f1");
    BOOST_TEST(origins(late) == "[a]");
    FoldRun joined;
    joined.read({agent_acts("a1", 3s), says_from("a", "u2", 2s), says_from("b", "u1", 1s),
                 status("f1", 4s, "finished")});
    BOOST_TEST(origins(joined.settles()) == "[]");
}

BOOST_AUTO_TEST_CASE(it_is_kept_while_a_finished_is_taken_back) {
    FoldRun fold_run;
    fold_run.read({says_from("a", "u1", 1s), status("f1", 2s, "finished"), status("r1", 3s, "running"),
                   status("f2", 4s, "finished")});
    BOOST_TEST(origins(fold_run.settles()) == "[a]");
}
