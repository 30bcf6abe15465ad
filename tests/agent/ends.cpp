// The ends that a worker posts of a real agent server's conversations whose `finished` is not the end:
// EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_ends
#include <future>
#include <map>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/hooks.h"
#include "tests/agent/live_topic.h"
#include "tests/agent/scripted_conversation.h"
#include "tests/agent/shared_server.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::string first_words = "All done: created notes.txt with 2 lines.";
const std::string second_words = "Script exhausted at step 4.";

std::string place(std::size_t number) {
    return "octo/ends#" + std::to_string(number);
}

/// Waits until nothing is on its way any more: what was not posted then never will be.
void come_to_rest(const Rig& rig) {
    eventually("all records are read", [&] { return rig.stored() == rig.ends(); });
    eventually("no turn is open", [&] {
        return rig.number("SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
    });
    eventually("all is sent",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state<>'SENT'") == 0; });
}

/// A conversation that is told live, and its hook.
struct Hooked {
    Hooked(const Rig& rig, int seconds)
        : hook(server(), "hook-" + std::to_string(seconds), seconds),
          conversation(server(), "finish", hook.request()),
          topic(rig, server(), conversation->id()) {}

    SlowHook hook;
    ScriptedConversation conversation;
    LiveTopic topic;
    bool was_early = false;  ///< it was posted before its hook had let it pass
};

/// Has a goal pursued, which takes two rounds, and returns when it is reached.
void reach_goal(const ScriptedConversation& conversation) {
    const auto client = server().client();
    expect(client->send({.method = "POST",
                         .path = "/api/conversations/" + conversation->id() + "/goal",
                         .body = Json{{"objective", server().task()}, {"max_iterations", 5}}.dump()}));
    eventually("the goal is reached", 300s, [&] {
        const auto events = expect(conversation->calls().events());
        return std::any_of(events.begin(), events.end(), [](const auto& event) {
            return event->key == "goal" && contains(event->json, "\"complete\"");
        });
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hooks)

BOOST_AUTO_TEST_CASE(an_end_that_a_stop_hook_denies_is_never_posted_and_the_next_one_once_it_is_let_pass) {
    const Rig rig("hooks", 1);
    auto worker = rig.epilogue().worker();
    std::map<std::string, std::unique_ptr<Hooked>> all;
    std::vector<std::future<epilogue::agent::RunEnd>> runs;
    for (const int seconds : {0, 1, 4, 8}) {
        auto& each = all[place(all.size() + 1)] = std::make_unique<Hooked>(rig, seconds);
        rig.add_github(each->conversation->id(), "octo/ends", static_cast<std::int64_t>(all.size()),
                       "every_turn");
    }
    for (auto& [where, each] : all) {
        each->conversation.send();
        runs.push_back(std::async(std::launch::async, [&each = *each] { return each.conversation.run(); }));
    }
    std::map<std::string, std::string> posts;
    eventually("each end is posted", 300s, [&] {
        for (const auto& post : rig.platform().visible())
            if (posts.emplace(post.path, post.body).second)
                all.at(post.path)->was_early = !all.at(post.path)->hook.has_allowed();
        return posts.size() == all.size();
    });
    for (auto& run : runs) BOOST_TEST(run.get().status == "finished");
    come_to_rest(rig);
    BOOST_TEST(rig.platform().visible().size() == all.size());
    for (const auto& [where, each] : all) {
        BOOST_TEST(contains(posts[where], second_words), where << ": " << posts[where]);
        BOOST_TEST(!each->was_early, where);
    }
}

BOOST_AUTO_TEST_CASE(a_callback_that_comes_while_a_stop_hook_thinks_is_told_once_that_is_over) {
    const SlowHook hook(server(), "thinks", 8, false);
    ScriptedConversation conversation(server(), "finish", hook.request());
    const Rig rig("thinks", 1, asks_the_server());
    auto worker = rig.epilogue().worker();
    auto run = std::async(std::launch::async, [&] { return conversation.send().run(); });
    eventually("the hook thinks", [&] { return hook.has_begun(); });
    rig.add_github(conversation->id(), "octo/ends", 1, "every_turn");
    eventually("the end is posted", [&] { return !rig.platform().visible().empty(); });
    BOOST_TEST(hook.has_allowed());
    BOOST_TEST(run.get().status == "finished");
    come_to_rest(rig);
    BOOST_TEST(rig.platform().visible().size() == 1U);
    BOOST_TEST(contains(rig.platform().visible().front().body, first_words));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(goals)

BOOST_AUTO_TEST_CASE(a_goal_of_two_rounds_has_one_end_which_is_its_own) {
    const Rig rig("goals", 1);
    auto worker = rig.epilogue().worker();
    ScriptedConversation live(server(), "finish");
    rig.add_github(live->id(), "octo/ends", 1, "every_turn");
    const LiveTopic topic(rig, server(), live->id());
    reach_goal(live);
    eventually("its end is posted", [&] { return !rig.platform().visible().empty(); });
    come_to_rest(rig);
    BOOST_TEST(rig.platform().visible().size() == 1U);
    const std::string post = rig.platform().visible().front().body;
    BOOST_TEST((contains(post, "**Finished**") && contains(post, second_words)), post);

    // Who comes late is told the same.
    const Rig late("late_goals", 1, asks_the_server());
    late.add_github(live->id(), "octo/ends", 1, "every_turn");
    auto another = late.epilogue().worker();
    eventually("it is told late", [&] { return !late.platform().visible().empty(); });
    come_to_rest(late);
    BOOST_TEST(late.platform().visible().size() == 1U);
    BOOST_TEST(contains(late.platform().visible().front().body, second_words));
}

BOOST_AUTO_TEST_SUITE_END()
