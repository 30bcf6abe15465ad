// What agents do in the scenarios of ops/agent_server/scripted_llm.py that come to an end by themselves, by
// each door alone and by both: each turn is posted once, as it ended. EPILOGUE_AGENT_SERVER says which
// version.
#define BOOST_TEST_MODULE agent_relay_scenarios
#include <map>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "tests/agent/relay_world.h"
#include "tests/support/eventually.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

struct Scenario {
    const char* script;
    const char* headline;
    const char* words;  ///< of the post
};
const std::vector<Scenario> scenarios{
    {"finish", "**Finished", "All done: created notes.txt with 2 lines."},
    {"message", "**Waiting for you", "Which file would you like me to change?"},
    {"llm500", "**Ended with an error", ""},
    {"llm400", "**Ended with an error", ""},
    {"llm401", "**Ended with an error", ""},
    {"llmctx", "**Ended with an error", ""},
    {"llmgarbage", "**Ended with an error", ""},
    {"stuck", "**Got stuck", ""},
    {"stuckalt", "**Got stuck", ""},
    {"badtool", "**Finished", ""},
    {"parallel", "**Finished", ""},
    {"unicode", "**Finished", ""},
    {"surrogate", "**Ended with an error", ""},
    {"think", "**Finished", "Thought about it."},
    {"finishfirst", "**Finished", "Nothing to do."},
    {"finishplus", "**Finished", ""},
    {"big", "**Finished", ""},
};

void each_scenario_is_posted_once(RelayWorld& world) {
    std::vector<std::unique_ptr<ScriptedConversation>> conversations;
    for (const Scenario& scenario : scenarios) {
        conversations.push_back(std::make_unique<ScriptedConversation>(world.server(), scenario.script));
        world.watch(*conversations.back(), static_cast<std::int64_t>(conversations.size()));
        const auto end = conversations.back()->send().run();
        BOOST_TEST_MESSAGE(scenario.script << " ended as " << end.status);
    }
    const auto posts = [&] { return world.rig().platform().visible(); };
    try {
        eventually("each end is posted", 300s, [&] { return posts().size() >= scenarios.size(); });
        eventually("all records are read", [&] { return world.rig().stored() == world.rig().ends(); });
        eventually("no turn is open", [&] {
            return world.rig().number(
                       "SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
        });
    } catch (const GaveUp& gave_up) {
        BOOST_ERROR(gave_up.what() << "\n" << world.report());
    }
    std::map<std::string, std::vector<std::string>> bodies;
    for (const auto& post : posts()) bodies[post.path].push_back(post.body);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        BOOST_TEST_CONTEXT(scenarios[i].script) {
            const auto& of_it = bodies["octo/relay#" + std::to_string(i + 1)];
            BOOST_TEST(of_it.size() == 1U);
            if (of_it.empty()) continue;
            BOOST_TEST(contains(of_it.front(), scenarios[i].headline), of_it.front());
            BOOST_TEST(contains(of_it.front(), scenarios[i].words), of_it.front());
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(followed_alone) {
    RelayWorld world("scenarios_followed", wanted_version(), {.followed = Followed::waited_for});
    each_scenario_is_posted_once(world);
}

BOOST_AUTO_TEST_CASE(by_webhook_alone) {
    RelayWorld world("scenarios_webhook", wanted_version(), {.webhook = true});
    each_scenario_is_posted_once(world);
}

BOOST_AUTO_TEST_CASE(by_both_doors) {
    RelayWorld world("scenarios_both", wanted_version(), {.webhook = true, .followed = Followed::waited_for});
    each_scenario_is_posted_once(world);
}
