// Real agents work while the relay is killed again and again, and the broker and the agent server are
// restarted: the topic holds every log, and each end is posted once. EPILOGUE_AGENT_SERVER says which
// version.
#define BOOST_TEST_MODULE agent_relay_kills
#include <csignal>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "tests/agent/relay_world.h"
#include "tests/support/eventually.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr int waves = 10;
constexpr int players = 4;  // conversations that run at once
constexpr int in_turn = 5;  // conversations of each player in a wave
constexpr int kills = 5;    // of the relay in a wave
constexpr std::size_t conversations = std::size_t{waves} * players * in_turn;
constexpr auto long_patience = 600s;

using Conversations = std::vector<std::unique_ptr<ScriptedConversation>>;

Conversations watched_conversations(RelayWorld& world, std::int64_t first_number) {
    Conversations made;
    for (int i = 0; i < players * in_turn; ++i) {
        const char* const script = i % 4 == 3 ? "message" : "finish";
        made.push_back(std::make_unique<ScriptedConversation>(world.server(), script));
        world.watch(*made.back(), first_number + i);
    }
    return made;
}

/// Runs all of them, some at once.
std::vector<std::future<void>> start_to_play(const Conversations& all) {
    std::vector<std::future<void>> started;
    for (std::size_t player = 0; player < players; ++player)
        started.push_back(std::async(std::launch::async, [&all, player] {
            for (std::size_t i = player; i < all.size(); i += players) all[i]->send().run();
        }));
    return started;
}

/// Of all cases: they follow each other.
void restart_broker() {
    broker_of_this_program().kill9();
    broker_of_this_program().start_again();
}

void nothing_is_lost_or_doubled(RelayWorld& world) {
    std::minstd_rand random(1);
    std::uniform_int_distribution<int> pause(100, 2'000);
    for (int wave = 0; wave < waves; ++wave) {
        const auto all = watched_conversations(world, std::int64_t{wave} * players * in_turn + 1);
        auto playing = start_to_play(all);
        for (int kill = 0; kill < kills; ++kill) {
            static_cast<void>(playing.back().wait_for(std::chrono::milliseconds(pause(random))));
            world.kill_relay();
            if (kill == 2 && wave % 4 == 2) restart_broker();
            world.start_relay();
        }
        for (auto& player : playing) player.get();
        try {
            eventually("the topic has the logs", long_patience, [&] { return world.missing(false).empty(); });
        } catch (const GaveUp& gave_up) {
            BOOST_FAIL(gave_up.what() << "\n" << world.report());
        }
        if (wave % 2 == 1) world.server().move_to("UTC");
        BOOST_TEST_MESSAGE("wave " << wave << " is over");
    }
    const auto posts = [&] { return world.rig().platform().visible(); };
    eventually("each end is posted", long_patience, [&] { return posts().size() >= conversations; });
    eventually("all records are read", [&] { return world.rig().stored() == world.rig().ends(); });
    eventually("no turn is open", [&] {
        return world.rig().number(
                   "SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
    });
    std::map<std::string, int> times;
    for (const auto& post : posts()) {
        ++times[post.path];
        BOOST_TEST((contains(post.body, "**Finished**") || contains(post.body, "**Waiting for you**")),
                   post.path << ": " << post.body);
    }
    BOOST_TEST(times.size() == conversations);
    for (const auto& [path, count] : times) BOOST_TEST(count == 1, path << " has " << count << " posts");
}

}  // namespace

BOOST_AUTO_TEST_CASE(followed_alone) {
    RelayWorld world("kills_followed", wanted_version(), {.followed = Followed::waited_for});
    nothing_is_lost_or_doubled(world);
}

BOOST_AUTO_TEST_CASE(by_webhook_alone) {
    RelayWorld world("kills_webhook", wanted_version(), {.webhook = true});
    nothing_is_lost_or_doubled(world);
}

BOOST_AUTO_TEST_CASE(by_both_doors) {
    RelayWorld world("kills_both", wanted_version(), {.webhook = true, .followed = Followed::waited_for});
    nothing_is_lost_or_doubled(world);
}
