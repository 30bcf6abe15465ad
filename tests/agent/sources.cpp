// Summaries that a worker asks a real agent server for, in each state that a conversation can end in:
// EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_sources
#include <map>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "tests/agent/fake_llm.h"
#include "tests/agent/live_topic.h"
#include "tests/agent/scripted_conversation.h"
#include "tests/agent/shared_server.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

/// A script, and the status in which it ends.
struct Scenario {
    std::string script;
    std::string status;
};
const std::vector<Scenario> scenarios{
    {"finish", "finished"}, {"message", "finished"}, {"llm400", "error"}, {"stuck", "stuck"}};

Settings asking(const std::string& source) {
    Settings settings = asks_the_server();
    settings["summary.sources"] = std::vector<std::string>{source, "final", "digest"};
    settings["summary.deadline_s"] = std::int64_t{100};
    return settings;
}

void come_to_rest(const Rig& rig) {
    eventually("all records are read", 60s, [&] { return rig.stored() == rig.ends(); });
    eventually("no turn is open", 60s, [&] {
        return rig.number("SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
    });
    eventually("all is sent", 60s,
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state<>'SENT'") == 0; });
}

/// One conversation of each scenario, told live, with a callback that tells every turn.
struct Conversations {
    explicit Conversations(const Rig& rig) : rig_(rig), worker_(rig.epilogue().worker()) {
        for (const Scenario& scenario : scenarios) {
            auto& each = all_.emplace_back(std::make_unique<ScriptedConversation>(server(), scenario.script));
            rig.add_github((*each)->id(), "octo/" + scenario.script, 1, "every_turn");
            topics_.push_back(std::make_unique<LiveTopic>(rig, server(), (*each)->id()));
            BOOST_TEST(each->send().run().status == scenario.status, scenario.script);
        }
        eventually("each end is posted", 300s,
                   [&] { return rig.platform().visible().size() >= scenarios.size(); });
        come_to_rest(rig);
        for (const auto& post : rig.platform().visible()) posts[post.path] = post.body;
        BOOST_TEST(rig.platform().visible().size() == scenarios.size());
        BOOST_TEST(total(worker_.metrics(), "epilogue_transitions_total") ==
                   static_cast<double>(scenarios.size()));
    }

    std::string post_of(const std::string& script) const { return posts.at("octo/" + script + "#1"); }
    /// How many messages of ours that conversation has.
    std::size_t instructions(std::size_t scenario) const {
        const auto events = expect((*all_.at(scenario))->calls().events());
        return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const auto& event) {
            return event->source == "user" && contains(event->json, "epilogue:ask");
        }));
    }
    std::string source_of(std::size_t scenario) const {
        return rig_
            .query("SELECT source FROM summaries WHERE conversation_id='" +
                   epilogue::normalise_conversation_id((*all_.at(scenario))->id()).text() + "'")
            .at(0)
            .at(0)
            .value_or("");
    }

    std::map<std::string, std::string> posts;

  private:
    const Rig& rig_;
    WorkerProcess worker_;
    std::vector<std::unique_ptr<ScriptedConversation>> all_;
    std::vector<std::unique_ptr<LiveTopic>> topics_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_agent_answers_about_its_turn_in_each_state_and_opens_none_by_it) {
    const Rig rig("ask_agent", 1, asking("ask_agent"));
    const Conversations asked(rig);
    for (const Scenario& scenario : scenarios) {
        const std::string post = asked.post_of(scenario.script);
        BOOST_TEST(contains(post, "ASK-ANSWER"), scenario.script << ": " << post);
    }
}

BOOST_AUTO_TEST_CASE(a_model_is_told_what_happened_in_each_state) {
    FakeLlm model;
    Settings settings = asking("llm");
    settings["summary.llm"] = "fast";
    settings["llm.fast.base_url"] = model.url();
    settings["llm.fast.model"] = "small";
    const Rig rig("model", 1, settings);
    const Conversations asked(rig);
    for (const Scenario& scenario : scenarios) {
        const std::string post = asked.post_of(scenario.script);
        BOOST_TEST(contains(post, "It works now: all tests pass."), scenario.script << ": " << post);
    }
    const auto seen = model.seen();
    BOOST_TEST(seen.size() == scenarios.size());
    const auto has = [&](const char* text) {
        return std::any_of(seen.begin(), seen.end(),
                           [&](const auto& request) { return contains(request.body, text); });
    };
    for (const char* text : {"hello from the lab", "created notes.txt with 2 lines", "echo same thing again",
                             "Which file would you like me to change?", "LLMBadRequestError"})
        BOOST_TEST(has(text), text);
}

BOOST_AUTO_TEST_CASE(an_agent_that_is_told_to_summarise_is_told_once_and_no_turn_comes_of_it) {
    const Rig rig("instruct", 1, asking("instruct"));
    const Conversations told(rig);
    BOOST_TEST(contains(told.post_of("finish"), "Script exhausted at step 4."), told.post_of("finish"));
    BOOST_TEST(contains(told.post_of("message"), "Changed it."), told.post_of("message"));
    BOOST_TEST(contains(told.post_of("message"), "Waiting for you"));
    for (const std::size_t scenario : {0U, 1U}) {
        BOOST_TEST(told.instructions(scenario) == 1U);
        BOOST_TEST(told.source_of(scenario) == "instruct");
    }
    // The model fails again; an agent that is stuck gets stuck again, or is not told at all.
    for (const std::size_t scenario : {2U, 3U}) {
        BOOST_TEST(told.instructions(scenario) <= 1U);
        BOOST_TEST(told.source_of(scenario) == "digest");
    }
}
