// ops/openhands/README.md, done as it says: its variables, read from the page, are given to real agent
// servers, and what their agents do reaches a relay that is set up as the page says.
#define BOOST_TEST_MODULE agent_openhands_page
#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/process/ports.h"
#include "ops/fake_platform/http_server.h"
#include "tests/agent/scripted_conversation.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Variables = std::map<std::string, std::string>;

const std::string relays_key = "a-key-of-the-relay";
const std::string agents_key = "lab-key";

/// The code blocks under a heading of the page, by language and in order.
class Page {
  public:
    Page() {
        std::ifstream file(EPILOGUE_SOURCE_DIR "/ops/openhands/README.md");
        text_.assign(std::istreambuf_iterator<char>(file), {});
    }

    /// The first block of that language ("": none named) under "## HEADING" that holds `part`, which is
    /// replaced as `changes` say. A change that has nothing to replace fails the test.
    std::string block(const std::string& heading, const std::string& language, const std::string& part,
                      const Variables& changes = {}) const {
        const auto begin = text_.find("\n## " + heading + "\n");
        BOOST_REQUIRE_MESSAGE(begin != std::string::npos, "the page has no heading " + heading);
        const std::string section = text_.substr(begin, text_.find("\n## ", begin + 1) - begin);
        const std::regex fence("\n```(\\w*)\n([^`]*)```");
        for (std::sregex_iterator found(section.begin(), section.end(), fence), end; found != end; ++found) {
            std::string code = (*found)[2];
            if ((*found)[1] != language || !contains(code, part)) continue;
            for (const auto& [from, to] : changes) {
                BOOST_REQUIRE_MESSAGE(contains(code, from), heading + " does not say " + from + ": " + code);
                for (auto at = code.find(from); at != std::string::npos; at = code.find(from, at + to.size()))
                    code.replace(at, from.size(), to);
            }
            return code;
        }
        BOOST_FAIL(heading + " has no block with " + part);
        return "";
    }

  private:
    std::string text_;
};

/// The variables that are set after the shell code has run; `program`, when the code starts one, is not.
Variables variables_after(const std::string& code, const std::string& program) {
    const std::string show = program.empty() ? code + "\nenv -0" : program + "() { env -0; }\n" + code;
    const Finished ran = run({{"bash", "-euc", show}}, 10s);
    BOOST_REQUIRE_MESSAGE(ran.status == 0, ran.err);
    Variables all;
    for (std::size_t at = 0; at < ran.out.size();) {
        const auto end = ran.out.find('\0', at);
        const std::string entry = ran.out.substr(at, end - at);
        all[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
        at = end + 1;
    }
    return all;
}

/// A topic, and the relay that fills it, with the keys that the page names and one that the app server's
/// sandboxes show.
class World {
  public:
    explicit World(const Page& page)
        : relay_port_(process::free_port()),
          rig_("openhands_page", 1),
          relays_(merged({rig_.settings(), relay_settings(page)})),
          relay_(relays_.start({"relay"}, {{"AGENT_SERVER_KEY", agents_key}}), relay_port_) {
        relay_.wait_ready(patience);
    }

    const Rig& rig() const { return rig_; }
    std::string relay() const { return "127.0.0.1:" + std::to_string(relay_port_); }

    /// Whether the topic holds the whole log of the conversation.
    bool has_all_of(const ScriptedConversation& conversation) const {
        std::vector<std::string> log;
        for (const auto& event : expect(conversation->calls().events())) log.push_back(event->id);
        std::vector<std::string> told;
        for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig_.name()))
            if (record.key == normalise_conversation_id(conversation->id()).text())
                told.push_back(Json::parse(*record.value).at("id"));
        return std::all_of(log.begin(), log.end(), [&](const std::string& id) {
            return std::find(told.begin(), told.end(), id) != told.end();
        });
    }

  private:
    Settings relay_settings(const Page& page) const {
        const std::string toml = page.block("Agent servers alone", "toml", "[relay]");
        std::smatch keys;
        BOOST_REQUIRE_MESSAGE(std::regex_search(toml, keys, std::regex("keys = \\[\"([^\"]*)\"\\]")), toml);
        return {{"relay.http_listen", relay()},
                {"relay.keys", std::vector<std::string>{keys[1], relays_key}}};
    }

    const unsigned short relay_port_;
    const Rig rig_;
    const Epilogue relays_;
    WorkerProcess relay_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(variables_of_the_page_bring_what_real_agents_do_to_the_relay) {
    const Page page;
    const World world(page);
    const Variables alone = variables_after(
        page.block("Agent servers alone", "", "agent-server --host", {{"127.0.0.1:9465", world.relay()}}),
        "agent-server");
    const Variables of_app_server =
        variables_after(page.block("A local app server", "", "OH_AGENT_SERVER_ENV",
                                   {{"127.0.0.1:9465", world.relay()}, {"THE-RELAYS-KEY", relays_key}}),
                        "");
    BOOST_TEST(alone.contains("SESSION_API_KEY"));
    // An app server sets the variables of this object in each sandbox, and an entry 0 of its own.
    fake_platform::HttpServer app_server(0, [](const auto&) { return fake_platform::json_reply(200, "{}"); });
    Variables in_sandbox{{"OH_WEBHOOKS_0_BASE_URL", "http://127.0.0.1:" + std::to_string(app_server.port())}};
    const Json of_sandboxes = Json::parse(of_app_server.at("OH_AGENT_SERVER_ENV"));
    for (const auto& [name, value] : of_sandboxes.items()) in_sandbox[name] = value.get<std::string>();

    auto starting = std::async(std::launch::async, [&] {
        return std::make_unique<RealServer>(wanted_version(), "UTC", "", in_sandbox);
    });
    const RealServer server(wanted_version(), "UTC", alone.at("OH_WEBHOOKS"));
    const auto sandbox = starting.get();
    ScriptedConversation conversation(server, "finishfirst");
    ScriptedConversation in_the_sandbox(*sandbox, "finishfirst");
    BOOST_TEST(conversation.send().run().status == "finished");
    BOOST_TEST(in_the_sandbox.send().run().status == "finished");
    eventually("OH_WEBHOOKS brings it all", 60s, [&] { return world.has_all_of(conversation); });
    eventually("OH_AGENT_SERVER_ENV brings it all", 60s, [&] { return world.has_all_of(in_the_sandbox); });

    // The registration as the page has it, of this conversation on this server.
    const std::string add = page.block("Agent servers alone", "", "epilogue callbacks add",
                                       {{"6f1c2a4b-e7c9-4b8f-9a2d-4b6a8c0e1f23", conversation->id()},
                                        {"127.0.0.1:8000", "127.0.0.1:" + std::to_string(server.port())}});
    const Finished added =
        run({.argv = {"bash", "-euc", "epilogue() { \"$PROGRAM\" \"$@\" --config \"$CONFIG\"; }\n" + add},
             .environment = {{"PROGRAM", EPILOGUE_BINARY_DIR "/bin/epilogue"},
                             {"CONFIG", world.rig().epilogue().config_file()},
                             {"AGENT_SERVER_KEY", agents_key}}},
            60s);
    BOOST_TEST(added.status == 0, added.err);
    BOOST_TEST(!contains(added.err, "warn"), added.err);
    BOOST_TEST(world.rig().number("SELECT COUNT(*) FROM conversation_callbacks") == 1);
    BOOST_TEST(world.rig().number("SELECT COUNT(*) FROM agent_endpoints") == 1);
}
