// The follower against a fake agent server, with a topic and positions in memory.
#define BOOST_TEST_MODULE agent_relay_follow_follower
#include "agent/relay/follow/follower.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>

#include <boost/test/unit_test.hpp>

#include "agent/relay/follow/once_positions.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/agent/relay_rig.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::relay;
using namespace epilogue::testing;
using namespace std::chrono_literals;

namespace {

const std::string id = "11112222333344445555666677778888";

struct Trial {
    explicit Trial(const std::string& of_version) : version(of_version), server(of_version) {
        server.add(id);
        positions.want(id, server.url(), "key");
    }

    std::unique_ptr<Follower> follower() {
        FollowObserver observer;
        observer.gap = [this](const GapSeen& gap) {
            const std::lock_guard lock(mutex);
            gaps.found += gap.found;
            gaps.filled += gap.filled;
        };
        observer.state = [this](const FollowState&) { ++saves; };
        return std::make_unique<Follower>(positions, topic, plain_record, rules, observer);
    }

    /// As many messages go on, and are logged.
    void say(int count) {
        for (int i = 0; i < count; ++i, ++said)
            server.emit(id, message_event("e" + std::to_string(said), said, "agent", "words"));
    }
    void say_unheard(int count) {
        for (int i = 0; i < count; ++i, ++said)
            server.append(id, message_event("e" + std::to_string(said), said, "agent", "words"));
    }

    std::vector<std::string> all_ids() const {
        std::vector<std::string> ids;
        for (int i = 0; i < said; ++i) ids.push_back("e" + std::to_string(i));
        return ids;
    }

    /// Returns when the topic has all of the log, in its order.
    void all_arrive() const {
        eventually("all is in the topic", [this] { return topic.first_ids(id).size() >= all_ids().size(); });
        BOOST_TEST(topic.first_ids(id) == all_ids(), boost::test_tools::per_element());
    }
    void all_stored() const {
        eventually("the position is stored", [this] { return positions.position(id).next == said; });
    }

    const std::string version;
    FollowRules rules = quick_rules();
    MemoryTopic topic;
    MemoryPositions positions;
    FakeAgentServer server;
    std::mutex mutex;
    GapSeen gaps;
    std::atomic<int> saves = 0;  ///< rounds in which positions are stored
    int said = 0;
};

/// With a session socket, and without.
void on_each_kind_of_server(const std::function<void(Trial&)>& play) {
    for (const char* version : {"1.58.0", "1.7.3"}) {
        BOOST_TEST_CONTEXT("server " << version) {
            Trial trial(version);
            play(trial);
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_log_and_what_is_added_to_it_is_in_the_topic_in_its_order) {
    on_each_kind_of_server([](Trial& trial) {
        trial.say(250);
        const auto follower = trial.follower();
        trial.all_arrive();
        trial.say(50);
        trial.all_arrive();
        trial.all_stored();
        BOOST_TEST(trial.topic.size() == 300U);
        const auto records = trial.topic.records(id);
        for (std::size_t i = 0; i < records.size(); ++i)
            BOOST_TEST((trial.version == "1.58.0" ? records[i].seq == static_cast<std::int64_t>(i)
                                                  : !records[i].seq));
    });
}

BOOST_AUTO_TEST_CASE(what_happens_while_nobody_follows_comes_when_somebody_does_again) {
    on_each_kind_of_server([](Trial& trial) {
        trial.say(20);
        auto follower = trial.follower();
        trial.all_arrive();
        trial.all_stored();
        follower->stop();
        follower.reset();
        trial.say(20);
        follower = trial.follower();
        trial.all_arrive();
        BOOST_TEST(trial.topic.size() == 40U);  // a follower that stops says goodbye: nothing comes twice
    });
}

BOOST_AUTO_TEST_CASE(after_a_kill_there_are_repeats_and_no_gap) {
    on_each_kind_of_server([](Trial& trial) {
        auto follower = trial.follower();
        for (unsigned life = 0; life < 5; ++life) {
            trial.say(30);
            eventually("some of it is there", [&] { return trial.topic.first_ids(id).size() > 30U * life; });
            follower.reset();  // without a goodbye
            trial.positions.end_leases();
            follower = trial.follower();
        }
        trial.all_arrive();
    });
}

BOOST_AUTO_TEST_CASE(a_broken_connection_costs_nothing) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        for (int i = 0; i < 5; ++i) {
            trial.say(10);
            trial.server.end_sockets([](fake_platform::SocketPeer& peer) { peer.drop(); });
            trial.say(10);
        }
        trial.all_arrive();
    });
}

BOOST_AUTO_TEST_CASE(what_a_deaf_socket_does_not_tell_is_found_by_the_slow_look) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        trial.say(3);
        trial.all_arrive();
        trial.say_unheard(3);
        trial.all_arrive();
    });
}

BOOST_AUTO_TEST_CASE(a_topic_without_room_stops_the_reading_and_nothing_is_lost) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        trial.say(5);
        trial.all_arrive();
        trial.all_stored();
        trial.topic.go_away(3);
        trial.say(300);
        eventually("the topic is full", [&] { return trial.topic.waiting() == 3U; });
        BOOST_TEST(trial.positions.position(id).next == 5);
        trial.topic.come_back();
        trial.all_arrive();
        trial.all_stored();
    });
}

BOOST_AUTO_TEST_CASE(what_the_topic_gives_up_is_produced_again) {
    on_each_kind_of_server([](Trial& trial) {
        trial.topic.give_up(2);
        const auto follower = trial.follower();
        trial.say(10);
        eventually("all is in the topic", [&] { return trial.topic.first_ids(id).size() == 10U; });
        trial.all_stored();
    });
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_comes_after_its_log_and_the_first_snapshot_not_at_all) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        trial.say(3);
        trial.all_arrive();
        trial.server.emit(id, status_event("end", 10, "finished"));
        trial.server.tell(id, run_over("over", 11, "finished"));
        eventually("the run is over in the topic", [&] { return trial.topic.records(id).back().run_over; });
        const auto records = trial.topic.records(id);
        BOOST_REQUIRE(records.size() == 5U);
        BOOST_TEST(records[3].id == "end");
        BOOST_TEST(records[4].id == "over");
    });
}

BOOST_AUTO_TEST_CASE(a_conversation_that_is_gone_is_let_go_with_the_reason) {
    on_each_kind_of_server([](Trial& trial) {
        const std::string gone = "99992222333344445555666677778888";
        trial.positions.want(gone, trial.server.url(), "key");
        const auto follower = trial.follower();
        eventually("the reason is stored", [&] {
            return trial.positions.trouble(gone) == "the agent server does not know the conversation";
        });
        eventually("it is let go", [&] { return follower->followed() == 1U; });
    });
}

BOOST_AUTO_TEST_CASE(a_key_that_is_refused_is_said_and_not_tried_again_and_again) {
    on_each_kind_of_server([](Trial& trial) {
        trial.positions.want(id, trial.server.url(), "wrong");
        const auto follower = trial.follower();
        eventually("the reason is stored",
                   [&] { return trial.positions.trouble(id) == "the agent server refuses the session key"; });
        eventually("it is let go", [&] { return follower->followed() == 0U; });
        trial.positions.want(id, trial.server.url(), "key");
        trial.say(3);
        trial.all_arrive();
    });
}

BOOST_AUTO_TEST_CASE(why_a_log_cannot_be_read_is_said_until_it_can_be_whatever_its_socket_tells) {
    Trial trial("1.7.3");
    trial.server.on("GET /events/search", [](const auto&) { return fake_platform::json_reply(500, "{}"); });
    trial.say(3);
    const auto follower = trial.follower();
    const auto trouble = [&] { return trial.positions.trouble(id); };
    eventually("it is said", [&] { return !trouble().empty(); });
    const std::string said = trouble();
    for (int frames = 0; frames < 5; ++frames) {
        trial.server.tell(id, message_event("told" + std::to_string(frames), 1, "agent", "words"));
        const int seen = trial.saves;
        eventually("it is stored once more", [&] { return trial.saves > seen + 2; });
        BOOST_TEST(trouble() == said);
    }
    trial.server.on("GET /events/search", {});
    eventually("it is over", [&] { return trouble().empty(); });
}

BOOST_AUTO_TEST_CASE(what_nobody_waits_for_any_more_is_not_followed) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        eventually("it is followed", [&] { return trial.server.sockets(id) == 1U; });
        trial.positions.unwant(id);
        eventually("its socket is closed", [&] { return trial.server.sockets(id) == 0U; });
    });
}

BOOST_AUTO_TEST_CASE(two_that_follow_share_the_work_and_the_second_takes_over_from_a_killed_one) {
    on_each_kind_of_server([](Trial& trial) {
        auto first = trial.follower();
        const auto second = trial.follower();
        trial.say(5);
        trial.all_arrive();
        BOOST_TEST(trial.server.sockets(id) == 1U);
        first.reset();
        trial.positions.end_leases();
        trial.say(5);
        trial.all_arrive();
    });
}

BOOST_AUTO_TEST_CASE(under_a_lease_that_may_end_before_the_topic_has_it_nothing_is_produced) {
    on_each_kind_of_server([](Trial& trial) {
        trial.rules.delivery = trial.rules.lease;
        const auto follower = trial.follower();
        trial.say(5);
        eventually("it is followed", [&] { return trial.server.sockets(id) == 1U; });
        eventually("leases were renewed without any effect", [&] { return trial.server.seen().size() > 3U; });
        BOOST_TEST(trial.topic.size() == 0U);
        BOOST_TEST(trial.topic.waiting() == 0U);
    });
}

BOOST_AUTO_TEST_CASE(once_all_logs_are_brought_and_then_nothing_is_followed_any_more) {
    on_each_kind_of_server([](Trial& trial) {
        const std::string empty = "99990000999900009999000099990000";
        const std::string gone = "00000000000000000000000000000000";
        trial.server.add(empty);
        trial.say(250);
        trial.rules.until_caught_up = true;
        trial.rules.most = 1;
        for (std::size_t round = 1; round <= 2; ++round) {
            OncePositions once({ConversationId(id), ConversationId(empty), ConversationId(gone)},
                               trial.server.url(), Secret("key"));
            Follower follower(once, trial.topic, plain_record, trial.rules);
            eventually("all are over", [&] { return once.progress().over == 3U; });
            BOOST_TEST(once.progress().behind == 0);
            BOOST_TEST(
                (once.progress().failures ==
                 std::vector<std::string>{gone + ": the agent server does not know the conversation"}));
            BOOST_TEST(trial.topic.size() == 250U * round);
            eventually("its socket is closed", [&] { return trial.server.sockets(id) == 0U; });
        }
        trial.all_arrive();
    });
}

BOOST_AUTO_TEST_CASE(once_what_the_topic_gave_up_is_brought_again) {
    on_each_kind_of_server([](Trial& trial) {
        trial.say(50);
        trial.topic.give_up(3);
        trial.rules.until_caught_up = true;
        OncePositions once({ConversationId(id)}, trial.server.url(), Secret("key"));
        Follower follower(once, trial.topic, plain_record, trial.rules);
        eventually("it is over", [&] { return once.progress().over == 1U; });
        auto ids = trial.topic.first_ids(id);  // what was given up comes behind what was not
        auto all = trial.all_ids();
        std::ranges::sort(ids);
        std::ranges::sort(all);
        BOOST_TEST(ids == all, boost::test_tools::per_element());
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_stays_away_is_given_up_where_that_is_wanted) {
    on_each_kind_of_server([](Trial& trial) {
        trial.server.refuse_sockets(503);
        trial.server.on("GET /events/count",
                        [](const auto&) { return fake_platform::json_reply(503, "{}"); });
        trial.rules.until_caught_up = true;
        trial.rules.give_up_after = 100ms;
        OncePositions once({ConversationId(id)}, trial.server.url(), Secret("key"));
        Follower follower(once, trial.topic, plain_record, trial.rules);
        eventually("it is given up", [&] { return once.progress().over == 1U; });
        BOOST_TEST(once.progress().failures.size() == 1U);
    });
}

BOOST_AUTO_TEST_CASE(what_waits_for_the_topic_is_told_in_events_and_in_time) {
    on_each_kind_of_server([](Trial& trial) {
        std::mutex mutex;
        FollowState state;
        FollowObserver observer;
        observer.state = [&](const FollowState& now) {
            const std::lock_guard lock(mutex);
            state = now;
        };
        const auto told = [&] {
            const std::lock_guard lock(mutex);
            return state;
        };
        trial.topic.go_away(10);
        trial.say(40);
        Follower follower(trial.positions, trial.topic, plain_record, trial.rules, observer);
        eventually("it is behind, and more and more",
                   [&] { return told().behind == 40 && told().lag > 300ms; });
        BOOST_TEST(told().followed == 1U);
        trial.topic.come_back();
        eventually("nothing waits", [&] { return told().behind == 0 && told().lag == 0ms; });
    });
}

BOOST_AUTO_TEST_CASE(a_conversation_that_another_one_has_by_now_is_told_of_whether_or_not_it_has_news) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        eventually("it is followed", [&] { return trial.server.sockets(id) == 1U; });
        trial.positions.take_away(id);
        const std::vector<std::string> told{"fenced " + id};
        eventually("it is told at a renewal", [&] { return trial.positions.told() == told; });
        eventually("it is let go", [&] { return trial.server.sockets(id) == 0U; });
    });
    on_each_kind_of_server([](Trial& trial) {
        trial.rules.renew_every = 1h;
        const auto follower = trial.follower();
        trial.say(1);
        trial.all_stored();
        trial.positions.take_away(id);
        trial.say(1);
        const std::vector<std::string> told{"fenced " + id};
        eventually("it is told when its position moves", [&] { return trial.positions.told() == told; });
    });
}

BOOST_AUTO_TEST_CASE(one_that_has_another_address_by_now_is_let_go_with_that_reason) {
    on_each_kind_of_server([](Trial& trial) {
        const auto follower = trial.follower();
        eventually("it is followed", [&] { return trial.server.sockets(id) == 1U; });
        FakeAgentServer other(trial.version);
        other.add(id);
        trial.positions.move(id, other.url());
        eventually("it is followed there", [&] { return other.sockets(id) == 1U; });
        BOOST_TEST(trial.positions.told() == std::vector<std::string>{"moved " + id},
                   boost::test_tools::per_element());
    });
}

BOOST_AUTO_TEST_CASE(
    a_log_that_cannot_be_read_is_left_alone_although_nothing_of_its_server_is_followed_meanwhile) {
    Trial trial("1.7.3");
    trial.server.on("GET /events/search", [](const auto&) { return fake_platform::json_reply(500, "{}"); });
    trial.rules.deadlines.log_pause = 3600s;
    const auto follower = trial.follower();
    FakeAgentServer other("1.7.3");
    for (int round = 0; round < 4; ++round) {
        if (round > 0) trial.positions.want(id, trial.server.url(), "key");
        eventually("it is known that it cannot be read",
                   [&] { return trial.positions.trouble(id).find("500") != std::string::npos; });
        trial.positions.unwant(id);
        eventually("it is let go",
                   [&] { return follower->followed() == 0U && trial.server.sockets(id) == 0U; });
        // Time goes by.
        const std::string between = "9999000099990000999900009999000" + std::to_string(round);
        other.add(between);
        trial.positions.want(between, other.url(), "key");
        eventually("another is followed", [&] { return other.sockets(between) == 1U; });
        trial.positions.unwant(between);
        eventually("and let go", [&] { return follower->followed() == 0U; });
    }
    const auto seen = trial.server.seen();
    const auto readings = std::ranges::count_if(
        seen, [](const std::string& each) { return each.find("/events/search") != std::string::npos; });
    BOOST_TEST(readings == 1);
}
