// Nothing recorded: real agents work on a real agent server, `epilogue relay` brings what they do into the
// topic, a worker posts how it ended. EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_relay
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/process/ports.h"
#include "tests/agent/scripted_conversation.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

std::string version() {
    const char* const wanted = std::getenv("EPILOGUE_AGENT_SERVER");
    return wanted == nullptr ? "1.58.0" : wanted;
}

/// What agents do when their LLM follows the script, and what has to be posted of it.
struct Script {
    const char* name;
    const char* headline;
    const char* words;  ///< of the post
};
const std::vector<Script> scripts{
    {"finish", "**Finished**", "All done: created notes.txt with 2 lines."},
    {"message", "**Waiting for you**", "Which file would you like me to change?"},
    {"llm500", "**Ended with an error", "LLMServiceUnavailableError"},
    {"stuck", "**Got stuck**", ""},
};

const Json relays_key = "a-key-of-the-relay";

/// What the relay reads by itself.
enum class Followed { nothing, waited_for, whole_server };

/// A server that tells the relay of everything at once, and the relay, by the doors that are open.
class World {
  public:
    World(const std::string& name, bool by_webhook, Followed followed)
        : relay_port_(process::free_port()),
          server_(version(), "UTC", by_webhook ? webhooks() : ""),
          rig_(name, 3),
          servers_(followed == Followed::whole_server
                       ? "[{url = \"" + server_url() + "\", key = \"lab-key\", all = true}]"
                       : ""),
          relays_(relay_settings(followed == Followed::waited_for)),
          relay_(relays_.start({"relay"}, {{"EPILOGUE_RELAY_SERVERS", servers_}}), relay_port_),
          worker_(rig_.epilogue().worker()) {
        relay_.wait_ready(patience);
    }

    const Rig& rig() const { return rig_; }

    /// A conversation whose end is to be posted to octo/relay#NUMBER.
    const ScriptedConversation& watch(const std::string& script, std::int64_t number) {
        conversations_.push_back(std::make_unique<ScriptedConversation>(server_, script));
        rig_.add_github((*conversations_.back())->id(), "octo/relay", number, "every_turn");
        return *conversations_.back();
    }
    ScriptedConversation& conversation(std::size_t index) { return *conversations_.at(index); }

    /// What the topic lacks of the server's logs, or has in another order; empty: nothing.
    std::string missing(bool in_order) const {
        std::map<std::string, std::vector<std::string>> told;
        for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig_.name())) {
            auto& ids = told[*record.key];
            const auto id = Json::parse(*record.value).at("id").get<std::string>();
            if (!record.headers.contains("run_over") && std::find(ids.begin(), ids.end(), id) == ids.end())
                ids.push_back(id);
        }
        for (const auto& each : conversations_) {
            std::vector<std::string> log;
            for (const auto& event : expect((*each)->calls().events())) log.push_back(event->id);
            auto& ids = told[normalise_conversation_id((*each)->id()).text()];
            if (!in_order) {
                std::sort(log.begin(), log.end());
                std::sort(ids.begin(), ids.end());
            }
            if (log != ids)
                return (*each)->id() + ": the log has " + std::to_string(log.size()) + " events, the topic " +
                       std::to_string(ids.size()) + " or others";
        }
        return "";
    }

    /// What `relay --once` says of a server that it brings once more.
    std::string bring_once() const {
        auto once = relays_.start({"relay", "--once", server_url(), "--key", "env:SERVER_KEY"},
                                  {{"SERVER_KEY", "lab-key"}});
        if (!once.wait(patience)) throw std::runtime_error("relay --once does not end: " + once.err());
        return once.out() + once.err();
    }
    /// How many records each event of the conversations' logs has.
    std::vector<int> times_told() const {
        std::map<std::string, int> told;
        for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig_.name()))
            ++told[Json::parse(*record.value).at("id").get<std::string>()];
        std::vector<int> times;
        for (const auto& each : conversations_)
            for (const auto& event : expect((*each)->calls().events())) times.push_back(told[event->id]);
        return times;
    }

    /// What is known when something does not come.
    std::string report() {
        return "topic: " + missing(true) + "\nstatus: " + relays_.run({"relay", "status", "--json"}).out +
               "\nrelay: " + relay_.process().err() + "\nworker: " + worker_.process().err();
    }

  private:
    std::string server_url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    std::string webhooks() const {
        return Json::array({{{"base_url", "http://127.0.0.1:" + std::to_string(relay_port_)},
                             {"flush_delay", 1},
                             {"headers", {{"Authorization", "Bearer " + relays_key.get<std::string>()}}}}})
            .dump();
    }
    /// The worker is told of no agent server: what it knows came through the topic.
    Settings relay_settings(bool by_following) const {
        Settings settings = rig_.settings();
        settings["relay.http_listen"] = "127.0.0.1:" + std::to_string(relay_port_);
        settings["relay.keys"] = std::vector<std::string>{relays_key.get<std::string>()};
        if (by_following) {
            settings["agent_server.url"] = server_url();
            settings["agent_server.session_api_key"] = "lab-key";
        }
        return settings;
    }

    const unsigned short relay_port_;
    RealServer server_;
    Rig rig_;
    const std::string servers_;
    Epilogue relays_;
    WorkerProcess relay_;
    WorkerProcess worker_;
    std::vector<std::unique_ptr<ScriptedConversation>> conversations_;
};

/// Plays each script, and a second turn of the first one; each turn is posted once with what its agent said.
void every_end_is_posted_once(World& world, bool in_order) {
    for (std::size_t i = 0; i < scripts.size(); ++i)
        world.watch(scripts[i].name, static_cast<std::int64_t>(i + 1));
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const auto end = world.conversation(i).send().run();
        BOOST_TEST_MESSAGE(scripts[i].name << " ended as " << end.status);
    }
    const auto posts = [&] { return world.rig().platform().visible(); };
    try {
        eventually("each end is posted", 120s, [&] { return posts().size() >= scripts.size(); });
    } catch (const std::exception& gave_up) {
        BOOST_FAIL(gave_up.what() << "\n" << world.report());
    }
    world.conversation(0).send("Go on.").run();
    eventually("the second turn is posted", 120s, [&] { return posts().size() > scripts.size(); });
    try {
        eventually("the topic has the logs", 60s, [&] { return world.missing(in_order).empty(); });
    } catch (const std::exception& gave_up) {
        BOOST_FAIL(gave_up.what() << "\n" << world.report());
    }

    eventually("all records are read", [&] { return world.rig().stored() == world.rig().ends(); });
    eventually("no turn is open", [&] {
        return world.rig().number(
                   "SELECT COUNT(*) FROM conversations WHERE turn_open=1 OR due_at IS NOT NULL") == 0;
    });
    BOOST_TEST(posts().size() == scripts.size() + 1);
    std::map<std::string, std::string> all;
    for (const auto& post : posts()) all[post.path] += post.body;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const auto& body = all["octo/relay#" + std::to_string(i + 1)];
        BOOST_TEST(contains(body, scripts[i].headline), body);
        BOOST_TEST(contains(body, scripts[i].words), body);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(followed_alone_each_end_of_real_agents_is_posted_once_and_the_topic_is_the_log) {
    World world("followed", false, Followed::waited_for);
    every_end_is_posted_once(world, true);
}

BOOST_AUTO_TEST_CASE(
    of_a_server_that_is_followed_as_a_whole_each_end_is_posted_once_also_when_its_logs_are_brought_again) {
    World world("whole_server", false, Followed::whole_server);
    // It is found while its agents work: what 1.7.3 puts before events that were read comes after them.
    every_end_is_posted_once(world, version() != "1.7.3");
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
    World world("webhooks", true, Followed::nothing);
    every_end_is_posted_once(world, false);
}

BOOST_AUTO_TEST_CASE(by_both_doors_at_once_each_end_of_real_agents_is_posted_once) {
    World world("both_doors", true, Followed::waited_for);
    every_end_is_posted_once(world, false);
}
