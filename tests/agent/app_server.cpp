// A real OpenHands app server: ops/openhands/epilogue_processor.py in its code and database, with a worker
// behind it; and its API, which the relay reads.
#define BOOST_TEST_MODULE app_server
#include <algorithm>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/process/ports.h"
#include "base/process/process.h"
#include "tests/agent/real_server.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_records.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using Json = nlohmann::json;

const std::string api_key = "a-key-of-the-tests";
const std::string source = EPILOGUE_SOURCE_DIR;

/// After each step the conversation's rows, as app_server.py prints them.
Json play(const std::string& conversation, const Json& processor, const std::vector<std::string>& updates) {
    const auto environment = real_server_environment("app-server-" + wanted_version("1.11.0"));
    const TempDir folder;
    const Json given{{"conversation_id", conversation},
                     {"sandbox", {{"url", "http://127.0.0.1:9"}, {"key", "the-sandbox-key"}}},
                     {"processor", processor},
                     {"updates", updates}};
    const auto played = process::run(
        {.argv = {environment / "bin/python", source + "/tests/agent/app_server.py", given.dump()},
         .environment = {{"PYTHONPATH", source + "/ops/openhands"},
                         {"OH_PERSISTENCE_DIR", folder.path().string()},
                         {"EPILOGUE_API_KEY", api_key},
                         {"SERVE_FRONTEND", "false"},
                         {"OTEL_SDK_DISABLED", "true"},
                         {"LITELLM_LOCAL_MODEL_COST_MAP", "True"}},
         .folder = folder.path()},
        std::chrono::minutes(5));
    BOOST_REQUIRE_MESSAGE(played.status == 0, played.err);
    return Json::parse(played.out.substr(played.out.rfind("[[")));
}

/// The row that a step left.
const Json& row_after(const Json& steps, std::size_t step) {
    BOOST_REQUIRE_EQUAL(steps.at(step).size(), 1U);
    return steps.at(step).at(0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_conversation_is_registered_once_at_the_first_event_that_epilogue_takes) {
    const std::string conversation = "6f1c2a4be7c94b8f9a2d4b6a8c0e1f23";
    const std::string nobody = "http://127.0.0.1:9";
    Rig rig("app_registered", 1, {{"worker.api_key", api_key}});
    const auto worker = rig.epilogue().worker();
    const Json steps =
        play(conversation,
             {{"kind", "EpilogueCallbackProcessor"}, {"processor_type", "log"}, {"mode", "every_turn"}},
             {nobody, worker.url(), worker.url()});
    BOOST_TEST(row_after(steps, 0).at("status") == "ACTIVE");
    BOOST_TEST(row_after(steps, 1).at("status") == "ACTIVE", steps.dump());
    BOOST_TEST(row_after(steps, 1).at("results").at(0).at("status") == "ERROR", steps.dump());
    for (const std::size_t step : {std::size_t{2}, std::size_t{3}}) {
        BOOST_TEST(row_after(steps, step).at("status") == "COMPLETED", steps.dump());
        BOOST_TEST(row_after(steps, step).at("results").size() == 2U, steps.dump());
        BOOST_TEST(row_after(steps, step).at("results").at(1).at("status") == "SUCCESS", steps.dump());
    }

    const Json listed = Json::parse(rig.epilogue().run({"callbacks", "list", "--json"}).out);
    BOOST_REQUIRE_EQUAL(listed.size(), 1U);
    BOOST_TEST(listed.at(0).at("conversation_id") == conversation);
    BOOST_TEST(listed.at(0).at("options").at("mode") == "every_turn");
    const auto id = std::to_string(listed.at(0).at("id").get<int>());
    const Json shown = Json::parse(rig.epilogue().run({"callbacks", "show", id, "--json"}).out);
    BOOST_TEST(shown.at("agent_url") == nobody);
    BOOST_TEST(shown.at("agent_key") == "sealed");
}

BOOST_AUTO_TEST_CASE(a_row_that_epilogue_refuses_says_why_and_is_not_offered_again) {
    Rig rig("app_refused", 1, {{"worker.api_key", api_key}});
    const auto worker = rig.epilogue().worker();
    const Json steps = play("6f1c2a4be7c94b8f9a2d4b6a8c0e1f24",
                            {{"kind", "EpilogueCallbackProcessor"}, {"processor_type", "slak"}},
                            {worker.url(), worker.url()});
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}}) {
        BOOST_TEST(row_after(steps, step).at("status") == "ERROR", steps.dump());
        BOOST_REQUIRE_EQUAL(row_after(steps, step).at("results").size(), 1U);
        const auto detail = row_after(steps, step).at("results").at(0).at("detail").get<std::string>();
        BOOST_TEST(detail.find("did you mean \"slack\"") != std::string::npos, detail);
    }
}

BOOST_AUTO_TEST_CASE(the_relay_reads_what_it_has_stored_by_its_api) {
    const std::string conversation = "6f1c2a4be7c94b8f9a2d4b6a8c0e1f25";
    const auto status = [](const std::string& number, const std::string& value) {
        return Json{{"kind", "ConversationStateUpdateEvent"},
                    {"id", "e1b2c3d4-0000-4000-8000-00000000000" + number},
                    {"timestamp", "2026-11-23T10:00:0" + number + ".5"},
                    {"source", "environment"},
                    {"key", "execution_status"},
                    {"value", value}};
    };
    const Json events{status("2", "finished"), status("1", "running")};
    const auto environment = real_server_environment("app-server-" + wanted_version("1.11.0"));
    const TempDir folder;
    const std::string port = std::to_string(process::free_port());
    const Process server({.argv = {environment / "bin/python", source + "/tests/agent/app_server_http.py",
                                   port, conversation, events.dump()},
                          .environment = {{"OH_PERSISTENCE_DIR", folder.path().string()},
                                          {"RUNTIME", "process"},
                                          {"SERVE_FRONTEND", "false"},
                                          {"OTEL_SDK_DISABLED", "true"},
                                          {"LITELLM_LOCAL_MODEL_COST_MAP", "True"}},
                          .folder = folder.path()});
    eventually("it serves", std::chrono::minutes(10),
               [&] { return server.out().find("ready\n") != std::string::npos; });
    Rig rig("app_read", 1);
    const std::string url = "http://127.0.0.1:" + port;
    const std::map<std::string, std::optional<std::string>> variables{
        {"EPILOGUE_RELAY_HTTP_LISTEN", "127.0.0.1:0"},
        {"EPILOGUE_RELAY_APP_SERVERS", "[{url = \"" + url + "\", key = \"k\"}]"}};
    const auto relay = rig.epilogue().start({"relay"}, variables);
    eventually("the topic has both", [&] { return rig.ends().at(0) == 2; });
    const auto records = read_topic(broker_of_this_program().bootstrap(), rig.name());
    BOOST_REQUIRE_EQUAL(records.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        BOOST_TEST(*records[i].key == conversation);
        BOOST_TEST(records[i].headers.at("source") == "app_server");
        BOOST_TEST(Json::parse(*records[i].value).at("id") == events.at(1 - i).at("id"));
    }

    // The operator sees how far it is, and that it lets us in.
    const auto told = [&](const std::vector<std::string>& args) {
        auto command = rig.epilogue().start(args, variables);
        if (!command.wait(patience)) throw std::runtime_error("a command does not end");
        return Json::parse(command.out());
    };
    const auto is_read = [&](const Json& row) {
        return row.at("door") == "app_server" && row.at("server") == url && row.at("behind") == 0 &&
               !row.at("looked_at").is_null() && !row.at("floor").get<std::string>().empty();
    };
    eventually("its position is shown", [&] {
        const Json rows = told({"relay", "status", "--json"});
        return std::any_of(rows.begin(), rows.end(), is_read);
    });
    const Json diagnosis = told({"doctor", "--json"});
    const auto& findings = diagnosis.at("findings");
    BOOST_TEST(std::any_of(findings.begin(), findings.end(),
                           [&](const Json& finding) {
                               return finding.at("check") == "app server" && finding.at("severity") == "ok" &&
                                      finding.at("text") == url + " answers and lets us in";
                           }),
               diagnosis.dump());
}
