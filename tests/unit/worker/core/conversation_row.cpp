#define BOOST_TEST_MODULE conversation_row
#include "worker/core/conversation_row.h"

#include <tuple>

#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

auto columns(const ConversationRow& row) {
    return std::tie(row.status, row.verdict, row.turn_key, row.tail_kind, row.tail_text, row.error_code,
                    row.error_detail, row.recent_ids, row.digest, row.fold, row.last_event_at, row.due_at);
}

Conversation again(const Conversation& conversation) {
    const auto read = from_row(to_row(conversation));
    BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().text));
    BOOST_TEST((columns(to_row(*read)) == columns(to_row(conversation))));
    return *read;
}

/// Everything that can come next, so that two conversations which fold alike are alike.
std::vector<Event> whatever_comes() {
    return {user_says("n", 10s),
            user_says("u1", 1s),
            agent_acts("n", 10s),
            agent_says("n", 10s, "New?"),
            agent_says("n", 2500ms, "Old?"),
            agent_says("n", 500ms, "Before?"),
            status("n", 10s, "running"),
            status("n", 2500ms, "running"),
            status("n", 10s, "finished"),
            status("n", 10s, "error"),
            status("n", -60s, "error"),
            status("n", 10s, "stuck"),
            status("n", 10s, "deleting"),
            error_detail("n", 10s, "Code", "why"),
            v0_state(3, "finished"),
            v0_agent_says(9, "Which?"),
            v0_state(9, "awaiting_user_input"),
            v0_state(9, "error", "why")};
}

/// Folds every event into both, at once and when the timer is due, and compares all that comes out.
void require_same_future(const Conversation& one, const Conversation& other) {
    for (const Micros later : {Micros{1s}, Micros{2s}})
        for (const Event& event : whatever_comes()) {
            const Folded first = fold(one, event, fold_start + later, {});
            const Folded second = fold(other, event, fold_start + later, {});
            BOOST_TEST((first.ended == second.ended), event.id);
            BOOST_TEST((first.applied == second.applied), event.id);
            BOOST_TEST((columns(to_row(first.conversation)) == columns(to_row(second.conversation))),
                       event.id);
            BOOST_TEST((tick(first.conversation, fold_start + 1h).ended ==
                        tick(second.conversation, fold_start + 1h).ended),
                       event.id);
        }
}

Event with_work(Event event) {
    event.work = {CommandStarted{"c1", "pytest \"ü\""}, CommandEnded{"c1", 1},
                  CommandStarted{"c2", "ls"},           FileChanged{"a b.txt"},
                  RequestMade{"https://x/pull/1"},      ErrorSeen{"e1", "no\ntool"}};
    return event;
}

/// One conversation per turn state and per thing that it can hold.
std::vector<FoldRun> fold_runs() {
    const std::vector<std::vector<Event>> told{
        {},
        {status("i", 0s, "idle")},
        {user_says("u1", 1s), status("s1", 2s, "stuck"), agent_finishes("w2", 2300ms, "\"More\""),
         status("e2", 2500ms, "error"), error_detail("d2", 2600ms, "Code", "why")},
        {user_says("u1", 1s), status("s1", 2s, "stuck"), status("f2", 2500ms, "finished"),
         user_says("u2", 2200ms)},
        {user_says("u1", 1s)},
        {status("r1", 1s, "running")},
        {user_says("u1", 1s), with_work(agent_says("a1", 3s, "Which \"file\"?\n\u2028🚀"))},
        {user_says("u1", 1s), agent_finishes("a1", 3s, "")},
        {user_says("u1", 1s), error_detail("d1", 2s, "Code", "")},
        {user_says("u1", 1s), with_work(agent_finishes("a1", 3s, "Done.")), status("f1", 4s, "finished")},
        {user_says("u1", 1s), agent_says("a1", 3s, "?"), status("f1", 4s, "finished"),
         status("i", 5s, "idle")},
        {status("f1", 4s, "finished")},
        {user_says("u1", 1s), status("f1", 4s, "finished"), agent_acts("a2", 5s)},
        {user_says("u1", 1s), with_work(agent_says("a1", 3s, "Hm.")), status("e1", 4s, "error")},
        {user_says("u1", 1s), with_work(agent_acts("a1", 3s)), status("e1", 4s, "error"),
         error_detail("d1", 5s, "Code", "why \"so\"")},
        {user_says("u1", 1s), status("e1", 4s, "error"), error_detail("d1", 5s, "Code", "why"),
         user_says("u2", 6s)},
        {v0_user_says(1), v0_agent_says(2, "Which?"), v0_state(3, "awaiting_user_input"),
         v0_agent_says(4, "And \"that\"?")},
        {user_says("u1", 1s), status("s1", 4s, "stuck")},
        {user_says("u1", 1s), status("x1", 4s, "deleting")},
        {user_says("u1", 1s), with_work(agent_finishes("a1", 3s, "Done.")), status("f1", 4s, "finished"),
         user_says("u2", 5s)},
        {v0_state(0, "loading")},
        {v0_user_says(2), v0_agent_acts(4)},
        {v0_user_says(2), v0_agent_says(4, "?"), v0_state(5, "awaiting_user_input")},
        {v0_user_says(2), v0_agent_finishes(4, "Done."), v0_state(5, "finished")},
        {v0_user_says(2), v0_state(5, "error", "STATUS$ERROR")},
        {v0_user_says(2), v0_state(5, "rejected"), v0_state(6, "running")}};
    std::vector<FoldRun> fold_runs;
    for (const auto& events : told) {
        fold_runs.emplace_back().read(events);
        fold_runs.push_back(fold_runs.back());
        fold_runs.back().settles();
    }
    return fold_runs;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_turn_state_survives_its_row_and_has_the_same_future) {
    for (const FoldRun& fold_run : fold_runs()) {
        const Conversation read = again(fold_run.conversation());
        BOOST_TEST(told(read.turn_state) == fold_run.turn_state());
        require_same_future(fold_run.conversation(), read);
    }
}

BOOST_AUTO_TEST_CASE(a_silence_that_is_asked_about_stays_so_until_it_starts_anew) {
    Conversation conversation = FoldRun().read({user_says("u1", 1s)}).conversation();
    std::get<Open>(conversation.turn_state).due = fold_start + 60s;
    std::get<Open>(conversation.turn_state).asked = true;
    const Conversation again = from_row(to_row(conversation)).value();
    BOOST_TEST(std::get<Open>(again.turn_state).asked);
    BOOST_TEST((std::get<Open>(again.turn_state).due == fold_start + 60s));
    const Conversation anew = fold(again, agent_acts("a1", 2s), fold_start + 2s, {}).conversation;
    BOOST_TEST(!std::get<Open>(anew.turn_state).asked);
}

BOOST_AUTO_TEST_CASE(the_origin_of_turns_survives_the_row) {
    FoldRun fold_run;
    fold_run.read({v1_event("u1", 1s, UserMessage{"slack:-/C1"}), status("s1", 2s, "stuck")});
    BOOST_TEST(again(fold_run.conversation()).last->origin == "slack:-/C1");
    fold_run.read({v1_event("u2", 3s, UserMessage{"slack:-/C2"})});
    const Conversation read = again(fold_run.conversation());
    BOOST_TEST(read.last->origin == "slack:-/C1");
    BOOST_TEST(std::get<Open>(read.turn_state).turn.origin == "slack:-/C2");
}

BOOST_AUTO_TEST_CASE(what_was_told_of_a_turn_that_waits_survives_the_row) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("r1", 2s, "running"), status("p1", 3s, "paused"),
                   status("w1", 4s, "waiting_for_confirmation")});
    const std::vector<Verdict> told{Verdict::paused, Verdict::waiting_for_confirmation};
    BOOST_TEST((std::get<Open>(again(fold_run.conversation()).turn_state).turn.noticed == told));
}

BOOST_AUTO_TEST_CASE(the_silence_of_a_conversation_that_was_never_read_survives_its_row) {
    Conversation conversation;
    conversation.turn_state = NoTurn{fold_start + 60s};
    BOOST_TEST((due_at(again(conversation)) == fold_start + 60s));
    constexpr int silence_timer = 2;
    BOOST_TEST(to_row(conversation).timer == silence_timer);
    BOOST_TEST(!to_row(conversation).turn_open);
}

BOOST_AUTO_TEST_CASE(the_last_counted_turn_is_whole_as_long_as_no_other_is_open) {
    for (const FoldRun& fold_run : fold_runs()) {
        if (current_turn(fold_run.conversation()) != nullptr) continue;
        BOOST_TEST((again(fold_run.conversation()).last == fold_run.conversation().last), fold_run.turns());
    }
}

BOOST_AUTO_TEST_CASE(when_it_was_heard_of_and_an_end_that_may_lie_in_a_gap_survive_the_row) {
    Conversation conversation = counted_once().conversation();
    conversation.heard_at = fold_start + 5s;
    conversation.last->may_lie_in_gap = true;
    const Conversation read = again(conversation);
    BOOST_TEST((read.heard_at == conversation.heard_at));
    BOOST_TEST(read.last->may_lie_in_gap);
}

BOOST_AUTO_TEST_CASE(of_the_turn_counted_before_an_open_one_key_verdict_and_status_are_kept) {
    FoldRun fold_run;
    fold_run.read(
        {user_says("u1", 1s), agent_says("a1", 2s, "?"), status("f1", 3s, "finished"), user_says("u2", 4s)});
    const Conversation read = again(fold_run.conversation());
    BOOST_REQUIRE(read.last.has_value());
    BOOST_TEST(told(*read.last) == "u1 awaiting_user_input by f1");
}

BOOST_AUTO_TEST_CASE(a_conversation_never_seen_is_an_empty_row) {
    const auto read = from_row(ConversationRow{});
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(told(read->turn_state) == "none");
    BOOST_TEST((columns(to_row(*read)) == columns(to_row(Conversation{}))));
}

BOOST_AUTO_TEST_CASE(the_columns_are_those_of_the_open_turn_else_of_the_last_one) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), agent_finishes("a1", 2s, "Done."), status("f1", 3s, "finished")});
    ConversationRow row = to_row(fold_run.conversation());
    BOOST_TEST(row.status == "finished");
    BOOST_TEST(row.verdict == "");
    BOOST_TEST(row.turn_key == "u1");
    BOOST_TEST(row.tail_kind == "finish");
    BOOST_TEST(row.tail_text == "Done.");
    BOOST_TEST((row.due_at == fold_start + 2s));
    BOOST_TEST((row.last_event_at == fold_start));

    row = to_row(fold_run.settles().conversation());
    BOOST_TEST(row.verdict == "finished");
    BOOST_TEST(row.turn_key == "u1");
    BOOST_TEST(row.tail_text == "Done.");
    BOOST_TEST(!row.due_at.has_value());

    row = to_row(fold_run.read({user_says("u2", 4s)}).conversation());
    BOOST_TEST(row.verdict == "finished");
    BOOST_TEST(row.turn_key == "u2");
    BOOST_TEST(row.tail_kind == "");
    BOOST_TEST(row.tail_text == "");

    fold_run.read({status("e1", 5s, "error"), error_detail("d1", 6s, "Code", "why")});
    row = to_row(fold_run.conversation());
    BOOST_TEST(row.verdict == "error");
    BOOST_TEST(row.error_code == "Code");
    BOOST_TEST(row.error_detail == "why");
    BOOST_TEST(row.recent_ids == R"(["u1","a1","f1","u2","e1","d1"])");
}

BOOST_AUTO_TEST_CASE(a_row_that_was_not_written_by_to_row_is_poison) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 1s), status("f1", 3s, "finished")});
    const ConversationRow good = to_row(fold_run.conversation());
    for (const char* fold : {"x", "[]", "null", "{}", R"({"standing":"open"})", R"({"standing":7})",
                             R"({"standing":"none"})", R"({"standing":"open","turn":{"key":1}})"}) {
        ConversationRow row = good;
        row.fold = fold;
        const auto read = from_row(row);
        BOOST_REQUIRE_MESSAGE(!read.has_value(), fold);
        BOOST_TEST((read.error().remedy == Remedy::poison), fold);
    }
    for (const char* json : {"x", R"({"commands":[{}]})", R"({"changed":[{}]})", "7"}) {
        ConversationRow row = good;
        row.digest = json;
        BOOST_TEST(!from_row(row).has_value(), json);
    }
    for (const char* json : {"x", "{}", "[1]"}) {
        ConversationRow row = good;
        row.recent_ids = json;
        BOOST_TEST(!from_row(row).has_value(), json);
    }
}
