// Nothing recorded: real agents work on a real agent server, `epilogue relay` brings what they do into the
// topic, a worker posts how it ended. EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_relay
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

/// What agents do when their LLM follows the script, and what has to be posted of it.
struct ScriptedEnd {
    const char* name;
    const char* headline;
    const char* words;  ///< of the post
};
const std::vector<ScriptedEnd> scripted_ends{
    {"finish", "**Finished**", "All done: created notes.txt with 2 lines."},
    {"message", "**Waiting for you**", "Which file would you like me to change?"},
    {"llm500", "**Ended with an error", "LLMServiceUnavailableError"},
    {"stuck", "**Got stuck**", ""},
};

/// Plays each script, and a second turn of the first one; each turn is posted once with what its agent said.
void every_end_is_posted_once(RelayWorld& world, bool in_order) {
    std::vector<std::unique_ptr<ScriptedConversation>> conversations;
    for (const ScriptedEnd& script : scripted_ends) {
        conversations.push_back(std::make_unique<ScriptedConversation>(world.server(), script.name));
        world.watch(*conversations.back(), static_cast<std::int64_t>(conversations.size()));
    }
    for (std::size_t i = 0; i < scripted_ends.size(); ++i) {
        const auto end = conversations[i]->send().run();
        BOOST_TEST_MESSAGE(scripted_ends[i].name << " ended as " << end.status);
    }
    const auto posts = [&] { return world.rig().platform().visible(); };
    try {
        eventually("each end is posted", [&] { return posts().size() >= scripted_ends.size(); });
        conversations[0]->send("Go on.").run();
        eventually("the second turn is posted", [&] { return posts().size() > scripted_ends.size(); });
        eventually("the topic has the logs", [&] { return world.missing(in_order).empty(); });
        eventually("all records are read", [&] { return world.rig().stored() == world.rig().ends(); });
        eventually("no turn is open", [&] {
            return world.rig().number(
                       "SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
        });
    } catch (const GaveUp& gave_up) {
        BOOST_FAIL(gave_up.what() << "\n" << world.report());
    }
    BOOST_TEST(posts().size() == scripted_ends.size() + 1, world.report());
    std::map<std::string, std::string> all;
    for (const auto& post : posts()) all[post.path] += post.body;
    for (std::size_t i = 0; i < scripted_ends.size(); ++i) {
        const auto& body = all["octo/relay#" + std::to_string(i + 1)];
        BOOST_TEST(contains(body, scripted_ends[i].headline), body);
        BOOST_TEST(contains(body, scripted_ends[i].words), body);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(followed_alone_each_end_of_real_agents_is_posted_once_and_the_topic_is_the_log) {
    RelayWorld world("followed", wanted_version(), {.followed = Followed::waited_for});
    every_end_is_posted_once(world, true);
}

BOOST_AUTO_TEST_CASE(
    of_a_server_that_is_followed_as_a_whole_each_end_is_posted_once_also_when_its_logs_are_brought_again) {
    RelayWorld world("whole_server", wanted_version(), {.followed = Followed::whole_server});
    // It is found while its agents work: what 1.7.3 puts before events that were read comes after them.
    every_end_is_posted_once(world, wanted_version() != "1.7.3");
    const auto posts = world.rig().platform().visible().size();
    const auto before = world.times_told();
    const auto said = world.bring_once();
    BOOST_TEST(said.ends_with(" events acknowledged\n"), said);
    const auto after = world.times_told();
    BOOST_REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < after.size(); ++i) BOOST_TEST(after[i] == before[i] + 1);
    eventually("all records are read", [&] { return world.rig().stored() == world.rig().ends(); });
    BOOST_TEST(world.rig().platform().visible().size() == posts);
}

BOOST_AUTO_TEST_CASE(by_webhook_alone_each_end_of_real_agents_is_posted_once) {
    RelayWorld world("webhooks", wanted_version(), {.webhook = true});
    every_end_is_posted_once(world, false);
}

BOOST_AUTO_TEST_CASE(by_both_doors_at_once_each_end_of_real_agents_is_posted_once) {
    RelayWorld world("both_doors", wanted_version(), {.webhook = true, .followed = Followed::waited_for});
    every_end_is_posted_once(world, false);
}
