#define BOOST_TEST_MODULE server_log
#include "worker/core/server_log.h"

#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/story.h"

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
        Story story;
        for (const std::size_t index : told) story.read({all.at(index)});
        std::string ids;
        for (const Event& event : missed(story.conversation(), all)) ids += event.id + " ";
        return ids;
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_conversation_of_which_nothing_is_known_everything_is_missed) {
    BOOST_TEST(Log().missed_after({}) == "u1 r1 a1 o1 a2 o2 w1 f1 ");
    BOOST_TEST(is_unseen(Conversation{}));
    BOOST_TEST(!is_unseen(Story().read({user_says("u1", 0s)}).conversation()));
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
    Story story;
    story.read({log[0], log[1], log[2]});
    const auto behind = missed(story.conversation(), log);
    BOOST_REQUIRE(behind.size() == 1U);
    BOOST_TEST(behind.front().id == "s1");
    BOOST_TEST(missed(story.conversation(), {log[0], log[1], log[2]}).empty());
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
        BOOST_TEST(is_unsettled(log(last), story_start + 11s, 2s), last);
        BOOST_TEST(!is_unsettled(log(last), story_start + 12s, 2s), last);
        BOOST_TEST(is_unsettled(log(last), story_start + 5s, 2s), last);
        BOOST_TEST(!is_unsettled(log(last), story_start - 5min, 2s), last);
    }
    BOOST_TEST(!is_unsettled(log("stuck"), story_start + 11s, 2s));
    BOOST_TEST(!is_unsettled({}, story_start, 2s));
}

BOOST_AUTO_TEST_CASE(a_finished_had_settled_when_the_next_event_happened_so_much_later) {
    Story story;
    story.read({user_says("u1", 0s), status("f1", 10s, "finished")});
    BOOST_TEST(!had_settled(story.conversation(), status("r1", 11s, "running"), 2s));
    BOOST_TEST(had_settled(story.conversation(), status("r1", 12s, "running"), 2s));
    BOOST_TEST(!had_settled(Conversation{}, status("r1", 12s, "running"), 2s));
}
