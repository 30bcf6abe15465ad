// Real agents whose server's webhooks reach the relay badly: refused, held, overtaken by each other, for two
// minutes not at all. What no webhook brings is found in the server's log. EPILOGUE_AGENT_SERVER says which
// version.
#define BOOST_TEST_MODULE agent_relay_webhooks
#include <csignal>
#include <map>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/process/ports.h"
#include "tests/agent/relay_world.h"
#include "tests/agent/unsteady_receiver.h"
#include "tests/support/eventually.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

/// No webhook is awaited for so long: then its events are looked for.
constexpr auto long_patience = 300s;

struct World {
    unsigned short relay_port = process::free_port();
    UnsteadyReceiver receiver{relay_port};
    RelayWorld relay;
    std::vector<std::unique_ptr<ScriptedConversation>> conversations{};

    /// The relay knows the server's address: 1.7.3 drops what it has to tell when its flush timer fires while
    /// it posts, and without the log what it dropped stays unknown.
    explicit World(const std::string& name)
        : relay(
              name, wanted_version(),
              {.webhook = true, .receiver = receiver.port(), .relay_port = relay_port, .is_compared = true}) {
    }

    void begin(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            conversations.push_back(std::make_unique<ScriptedConversation>(relay.server(), "finish"));
            relay.watch(*conversations.back(), static_cast<std::int64_t>(conversations.size()));
        }
    }
    void play_turns(const std::string& text) {
        for (const auto& each : conversations) each->send(text).run();
    }
    std::size_t posts() const { return relay.rig().platform().visible().size(); }

    void require_posts(int turns, bool is_complete) {
        const auto expected = conversations.size() * static_cast<std::size_t>(turns);
        try {
            eventually("each end is posted", long_patience, [&] { return posts() >= expected; });
            if (is_complete)
                eventually("the topic has the logs", long_patience,
                           [&] { return relay.missing(false).empty(); });
            eventually("all records are read", [&] { return relay.rig().stored() == relay.rig().ends(); });
            eventually("no turn is open", [&] {
                return relay.rig().number(
                           "SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
            });
        } catch (const GaveUp& gave_up) {
            BOOST_FAIL(gave_up.what() << ": " << posts() << " posts\n" << relay.report());
        }
        std::map<std::string, std::size_t> times;
        std::map<std::string, std::string> words;
        for (const auto& post : relay.rig().platform().visible()) {
            ++times[post.path];
            words[post.path] += post.body;
            BOOST_TEST(!contains(post.body, "No sign of life"), post.body);
        }
        for (const auto& [path, count] : times) {
            BOOST_TEST(count == static_cast<std::size_t>(turns), path << ": " << words[path]);
            BOOST_TEST(contains(words[path], "All done: created notes.txt with 2 lines."), words[path]);
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(refused_and_held_webhooks_of_three_turns_are_made_good_from_the_log) {
    World world("unsteady");
    world.begin(4);
    world.receiver.set({.refused_percent = 30, .slow_percent = 40, .slow = 3'000ms});
    for (const int turn : {1, 2, 3}) {
        world.play_turns(turn == 1 ? "" : "Go on.");
        world.require_posts(turn, false);
    }
    BOOST_TEST(world.receiver.refused() > 0);
    BOOST_TEST_MESSAGE(world.receiver.passed() << " passed, " << world.receiver.refused() << " refused");
    world.require_posts(3, true);
}

BOOST_AUTO_TEST_CASE(webhooks_that_overtake_each_other_are_put_in_order) {
    World world("overtaking");
    world.begin(4);
    world.receiver.set({.slow_percent = 60, .slow = 1'500ms});
    for (const int turn : {1, 2, 3}) {
        world.play_turns(turn == 1 ? "" : "Go on.");
        world.require_posts(turn, false);
    }
}

BOOST_AUTO_TEST_CASE(of_a_receiver_that_is_down_for_two_minutes_nothing_is_missed) {
    World world("down");
    world.begin(4);
    world.play_turns("");
    world.require_posts(1, true);
    world.receiver.set({.is_down = true});
    const auto up_at = std::chrono::steady_clock::now() + 120s;
    world.play_turns("Go on.");
    eventually("two minutes", 150s, [&] { return std::chrono::steady_clock::now() >= up_at; });
    world.receiver.set({});
    world.play_turns("Once more.");
    world.require_posts(3, true);
}

BOOST_AUTO_TEST_CASE(what_a_killed_server_had_not_told_is_counted) {
    World world("killed");
    world.begin(2);
    world.play_turns("");
    world.require_posts(1, true);
    world.receiver.set({.is_down = true});
    world.play_turns("Go on.");
    world.relay.server().end(SIGKILL);
    world.receiver.set({});
    world.relay.server().start();
    world.require_posts(2, true);
    const auto gaps = [&](const std::string& result) {
        return world.relay.relay_metric("epilogue_relay_gaps_total{result=\"" + result + "\"}");
    };
    // None of them is in a webhook: the memory that held them is gone.
    eventually("what was missing is counted", long_patience, [&] { return gaps("filled") > 0; });
    BOOST_TEST(gaps("found") == gaps("filled"));
    BOOST_TEST(gaps("lost") == 0);
}
