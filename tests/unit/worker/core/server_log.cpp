#define BOOST_TEST_MODULE server_log
#include "worker/core/server_log.h"

#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

Event sign_of_life(std::string id, Micros at) {
    return v1_event(std::move(id), at, Activity{});
}

/// A server's log, and which of its events the topic has told.
struct Log {
    std::vector<Event> all{user_says("u1", 0s),      status("r1", 1s, "running"), agent_acts("a1", 2s),
                           sign_of_life("o1", 3s),   agent_acts("a2", 4s),        sign_of_life("o2", 5s),
                           agent_says("w1", 6s, ""), status("f1", 7s, "finished")};

    /// The ids of what is missed when only these were told.
    std::string missed_after(const std::vector<std::size_t>& told) const {
        FoldRun fold_run;
        for (const std::size_t index : told) fold_run.read({all.at(index)});
        std::string ids;
        for (const Event& event : missed(fold_run.conversation(), all)) ids += event.id + " ";
        return ids;
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_conversation_of_which_nothing_is_known_everything_is_missed) {
    BOOST_TEST(Log().missed_after({}) == "u1 r1 a1 o1 a2 o2 w1 f1 ");
    BOOST_TEST(is_unseen(Conversation{}));
    BOOST_TEST(!is_unseen(FoldRun().read({user_says("u1", 0s)}).conversation()));
}

BOOST_AUTO_TEST_CASE(what_follows_all_that_is_known_is_missed) {
    BOOST_TEST(Log().missed_after({0, 1}) == "a1 o1 a2 o2 w1 f1 ");
    BOOST_TEST(Log().missed_after({0, 1, 2}) == "a2 o2 w1 f1 ");
    BOOST_TEST(Log().missed_after({0, 1, 2, 3, 4, 5}) == "w1 f1 ");
    BOOST_TEST(Log().missed_after({0, 1, 2, 3, 4, 5, 6}) == "f1 ");
}

BOOST_AUTO_TEST_CASE(nothing_is_missed_of_what_is_known_to_its_end) {
    BOOST_TEST(Log().missed_after({0, 1, 2, 3, 4, 5, 6, 7}) == "");
    // Signs of life alone are no news, and what lies before the newest that is known comes too late.
    BOOST_TEST(Log().missed_after({0, 1, 2, 4, 6, 7}) == "");
    BOOST_TEST(Log().missed_after({0, 7}) == "");
}

BOOST_AUTO_TEST_CASE(a_log_has_ended_when_the_server_confirms_its_last_status) {
    struct Row {
        const char* last;
        const char* server;
        bool current;
        bool ended;
    };
    for (const auto& [last, server, current, ended] :
         {Row{"finished", "finished", true, true}, Row{"error", "error", true, true},
          Row{"stuck", "stuck", true, true}, Row{"finished", "running", false, false},
          Row{"running", "finished", false, false}, Row{"running", "running", true, false},
          Row{"paused", "paused", true, false}, Row{"finished", "", false, false}}) {
        ServerLog log{{user_says("u1", 0s), status("s1", 1s, last), agent_acts("a1", 2s)}, server};
        BOOST_TEST(is_current(log) == current, last << " " << server);
        BOOST_TEST(has_ended(log) == ended, last << " " << server);
    }
    BOOST_TEST(!has_ended({{user_says("u1", 0s)}, "finished"}));
}

BOOST_AUTO_TEST_CASE(of_the_same_moment_as_the_newest_that_is_known_only_what_has_a_known_id_is_missed) {
    const std::vector<Event> log{user_says("u1", 0s), status("r1", 1s, "running"), agent_acts("a1", 2s),
                                 status("s1", 2s, "error")};
    FoldRun fold_run;
    fold_run.read({log[0], log[1], log[2]});
    const auto behind = missed(fold_run.conversation(), log);
    BOOST_REQUIRE(behind.size() == 1U);
    BOOST_TEST(behind.front().id == "s1");
    BOOST_TEST(missed(fold_run.conversation(), {log[0], log[1], log[2]}).empty());
}

BOOST_AUTO_TEST_CASE(a_conversation_has_begun_with_the_first_event_that_opens_a_turn) {
    BOOST_TEST(!has_begun({}));
    BOOST_TEST(!has_begun({{sign_of_life("o1", 0s), status("i1", 1s, "idle")}, "idle"}));
    BOOST_TEST(has_begun({{status("i1", 1s, "idle"), user_says("u1", 2s)}, "idle"}));
    BOOST_TEST(has_begun({{agent_acts("a1", 0s)}, "running"}));
    BOOST_TEST(has_begun({{status("f1", 0s, "finished")}, "finished"}));
}

BOOST_AUTO_TEST_CASE(an_end_is_unsettled_until_it_has_stood_by_the_servers_own_time_when_that_can_be_ours) {
    const auto log = [](const char* last) {
        return ServerLog{{user_says("u1", 0s), status("s1", 10s, last)}, last};
    };
    for (const char* last : {"finished", "error"}) {
        BOOST_TEST((unsettled_for(log(last), fold_start + 11s, {}) == 2s), last);
        BOOST_TEST(!unsettled_for(log(last), fold_start + 12s, {}), last);
        BOOST_TEST((unsettled_for(log(last), fold_start + 5s, {}) == 2s), last);
        BOOST_TEST(!unsettled_for(log(last), fold_start - 5min, {}), last);
    }
    BOOST_TEST(!unsettled_for(log("stuck"), fold_start + 11s, {}));
    BOOST_TEST(!unsettled_for({}, fold_start, {}));
}

BOOST_AUTO_TEST_CASE(
    with_a_stop_hook_a_finished_is_unsettled_until_the_hooks_word_has_stood_and_for_so_long) {
    ServerLog log{{user_says("u1", 0s), status("f1", 10s, "finished")}, "finished", true};
    const auto after = [&](Micros since) { return unsettled_for(log, fold_start + 10s + since, {}); };
    BOOST_TEST((after(1s) == 2s));
    BOOST_TEST((after(4s) == 4s));
    BOOST_TEST((after(5min) == 30s));
    BOOST_TEST(after(599s).has_value());
    BOOST_TEST(!after(600s));
    for (const bool is_denied : {false, true}) {
        ServerLog told = log;
        told.events.push_back(v1_event("h1", 18s, StopHookVerdict{is_denied}));
        BOOST_TEST((unsettled_for(told, fold_start + 19s, {}) == 2s));
        BOOST_TEST(!unsettled_for(told, fold_start + 20s, {}));
    }
    // A verdict before it is of an end before it. The log itself may say that there are hooks.
    log = {{user_says("u1", 0s), v1_event("h1", 9s, StopHookVerdict{true}), status("f1", 10s, "finished")},
           "finished"};
    BOOST_TEST(!after(5s));
    log.events[1].has_stop_hook = true;
    BOOST_TEST((after(5s) == 5s));
    log.events[2] = status("e1", 10s, "error");
    BOOST_TEST(!after(5s));
}

BOOST_AUTO_TEST_CASE(a_finished_had_settled_when_the_next_event_happened_so_much_later) {
    FoldRun fold_run;
    fold_run.read({user_says("u1", 0s), status("f1", 10s, "finished")});
    BOOST_TEST(!had_settled(fold_run.conversation(), status("r1", 11s, "running"), {}));
    BOOST_TEST(had_settled(fold_run.conversation(), status("r1", 12s, "running"), {}));
    BOOST_TEST(!had_settled(Conversation{}, status("r1", 12s, "running"), {}));
}

BOOST_AUTO_TEST_CASE(a_servers_word_does_not_settle_a_finished_that_a_stop_hook_may_take_back) {
    const ServerLog log{{user_says("u1", 0s), status("f1", 10s, "finished")}, "finished", true};
    Conversation conversation = FoldRun().read(log.events).conversation();
    BOOST_TEST(settled_by(log, conversation, fold_start + 11s, false, {}).has_value());
    auto& candidate = std::get<Candidate>(conversation.turn_state);
    candidate.awaits_hook = true;
    BOOST_TEST(!settled_by(log, conversation, fold_start + 609s, true, {}).has_value());
    BOOST_TEST((settled_by(log, conversation, fold_start + 610s, false, {}) == candidate.due));
    BOOST_TEST(!had_settled(conversation, status("r1", 12s, "running"), {}));
    BOOST_TEST(had_settled(conversation, status("r1", 610s, "running"), {}));
}

BOOST_AUTO_TEST_SUITE(zones)

namespace {

/// A log that a server in `zone` has written, created at the run's start, its last event 60 s later.
ServerLog written_in(Micros zone) {
    return {{user_says("u1", 1s + zone), status("r1", 2s + zone, "running"),
             status("f1", 60s + zone, "finished")},
            "finished"};
}

/// The events' own times in seconds since the run's start.
std::vector<std::int64_t> times(const ServerLog& log) {
    std::vector<std::int64_t> times;
    for (const Event& event : log.events) times.push_back((*event.timestamp - fold_start) / 1s);
    return times;
}

const std::vector<std::int64_t> as_they_were{1, 2, 60};

}  // namespace

BOOST_AUTO_TEST_CASE(a_log_of_any_zone_gets_the_times_of_utc) {
    for (const Micros zone : {Micros{0s}, Micros{-5h}, Micros{9h}, Micros{5h + 45min}, Micros{-12h}}) {
        ServerLog log = written_in(zone);
        correct_times(log, fold_start, fold_start + 60s);
        BOOST_TEST(times(log) == as_they_were, boost::test_tools::per_element());
        BOOST_TEST(log.events.front().is_utc);
        BOOST_TEST((log.zone == std::chrono::duration_cast<std::chrono::minutes>(zone)));
    }
}

BOOST_AUTO_TEST_CASE(a_conversation_that_was_left_alone_at_either_end_gets_them_too) {
    for (const Micros zone : {Micros{0s}, Micros{-5h}, Micros{9h}}) {
        ServerLog waited = written_in(zone);
        correct_times(waited, fold_start - 47min, fold_start + 60s);
        BOOST_TEST(times(waited) == as_they_were, boost::test_tools::per_element());
        ServerLog renamed = written_in(zone);
        correct_times(renamed, fold_start, fold_start + 2h + 17min);
        BOOST_TEST(times(renamed) == as_they_were, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_moved_between_two_events_is_recognised) {
    for (const Micros moved : {Micros{-5h}, Micros{9h}, Micros{-1h}}) {
        ServerLog log = written_in(0s);
        *log.events.back().timestamp += moved;
        correct_times(log, fold_start, fold_start + 60s);
        BOOST_TEST(times(log) == as_they_were, boost::test_tools::per_element());
        BOOST_TEST((log.zone == std::chrono::duration_cast<std::chrono::minutes>(moved)));
    }
}

BOOST_AUTO_TEST_CASE(times_that_say_their_zone_or_cannot_be_compared_stay) {
    ServerLog utc = written_in(9h);
    for (Event& event : utc.events) event.is_utc = true;
    const auto before = times(utc);
    correct_times(utc, fold_start, fold_start + 60s);
    BOOST_TEST(times(utc) == before, boost::test_tools::per_element());
    ServerLog untold = written_in(9h);
    correct_times(untold, std::nullopt, fold_start + 60s);
    BOOST_TEST(times(untold) == before, boost::test_tools::per_element());
    BOOST_TEST(!untold.zone.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
