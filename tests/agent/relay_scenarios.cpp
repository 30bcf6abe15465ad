// Every scenario of the laboratory (lab_scenarios.h) by each door alone and by both: each turn is posted
// once, as it ended. EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_relay_scenarios
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/ids.h"
#include "tests/agent/lab_scenarios.h"
#include "tests/agent/relay_world.h"
#include "tests/support/eventually.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

using Bodies = std::vector<std::string>;

struct Played {
    const LabScenario* scenario = nullptr;
    std::int64_t number = 0;  ///< of its place on the platform
    std::string conversation_id{};
    Owed owed{};
};

/// On a new conversation when the server itself has lost the first one's log; nothing is judged of that one.
Played play(RelayWorld& world, const LabScenario& scenario, std::int64_t& number,
            std::vector<std::string>& lost) {
    constexpr int tries = 4;
    for (int i = 1;; ++i) {
        ScriptedConversation scripted(world.server(), scenario.script, scenario.more(world.server()));
        Played played{&scenario, ++number, scripted->id()};
        world.watch(scripted, number);
        played.owed = scenario.play(world.server(), scripted);
        if (played.owed.stays_open || i == tries) return played;
        try {
            static_cast<void>(scripted.difference());
            return played;
        } catch (const LogLost& fault) {
            BOOST_TEST_MESSAGE(scenario.name << " once more: " << fault.what());
            lost.push_back(played.conversation_id);
        }
    }
}

bool is_as_owed(const Bodies& bodies, const OwedPosts& posts) {
    return std::ranges::equal(bodies, posts, [](const std::string& body, const OwedPost& post) {
        return contains(body, post.headline) && contains(body, post.words);
    });
}

bool is_as_owed(const Bodies& bodies, const Owed& owed) {
    return std::ranges::any_of(owed.either,
                               [&](const OwedPosts& posts) { return is_as_owed(bodies, posts); });
}

/// By place.
std::map<std::string, Bodies> bodies_in(const RelayWorld& world) {
    std::map<std::string, Bodies> bodies;
    for (const auto& post : world.rig().platform().visible()) bodies[post.path].push_back(post.body);
    return bodies;
}

Bodies bodies_of(const Played& played, std::map<std::string, Bodies>& bodies) {
    return bodies["octo/relay#" + std::to_string(played.number)];
}

/// The conversations whose turn has to be over are waited for, the others are named here.
bool has_open_turn(const RelayWorld& world, const std::vector<std::string>& may_be_open) {
    std::string others = "''";
    for (const std::string& id : may_be_open) others += ",'" + normalise_conversation_id(id).text() + "'";
    return world.rig().number(
               "SELECT COUNT(*) FROM conversations WHERE (turn_open=1 OR due_at IS NOT NULL) AND "
               "conversation_id NOT IN (" +
               others + ")") > 0;
}

void each_turn_of_each_scenario_is_posted_once(RelayWorld& world) {
    std::vector<Played> all;
    std::vector<std::string> may_be_open;
    std::int64_t number = 0;
    for (const LabScenario& scenario : lab_scenarios()) {
        all.push_back(play(world, scenario, number, may_be_open));
        if (all.back().owed.stays_open) may_be_open.push_back(all.back().conversation_id);
        BOOST_TEST_MESSAGE(scenario.name << " was played as number " << number);
    }
    try {
        eventually("each end is posted", 300s, [&] {
            auto bodies = bodies_in(world);
            return std::ranges::all_of(
                all, [&](const Played& each) { return is_as_owed(bodies_of(each, bodies), each.owed); });
        });
        eventually("all records are read", [&] { return world.rig().stored() == world.rig().ends(); });
        eventually("no turn is open", [&] { return !has_open_turn(world, may_be_open); });
    } catch (const GaveUp& gave_up) {
        BOOST_ERROR(gave_up.what() << "\n" << world.report());
    }
    auto bodies = bodies_in(world);
    for (const Played& each : all) {
        const Bodies seen = bodies_of(each, bodies);
        std::string text = std::to_string(seen.size()) + " posts";
        for (const std::string& body : seen) text += "\n---\n" + body;
        BOOST_TEST(is_as_owed(seen, each.owed), each.scenario->name << ": " << text);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(followed_alone) {
    RelayWorld world("scenarios_followed", wanted_version(), {.followed = Followed::waited_for});
    each_turn_of_each_scenario_is_posted_once(world);
}

BOOST_AUTO_TEST_CASE(by_webhook_alone) {
    // 1.7.3 drops what it has to tell when its flush timer fires while it posts: the log makes it good.
    const bool drops_events = wanted_version() == "1.7.3";
    RelayWorld world("scenarios_webhook", wanted_version(), {.webhook = true, .is_compared = drops_events});
    each_turn_of_each_scenario_is_posted_once(world);
}

BOOST_AUTO_TEST_CASE(by_both_doors) {
    RelayWorld world("scenarios_both", wanted_version(), {.webhook = true, .followed = Followed::waited_for});
    each_turn_of_each_scenario_is_posted_once(world);
}
