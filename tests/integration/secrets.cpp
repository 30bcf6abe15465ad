// Secrets planted wherever the program meets them, each in use: none of them is found in the database, the
// logs, the metrics, the command lines, what the commands print, or a post.
#define BOOST_TEST_MODULE secrets
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/text.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/integration/contract_post.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

std::string drawn() {
    return epilogue::replaced(epilogue::random_uuid(), "-", "");
}

/// By where they are planted. Those of texts have the form by which they are known.
struct Planted {
    std::string slack = "xoxb-" + drawn();
    std::string slack_team = "xoxb-" + drawn();
    std::string github = "ghp_" + drawn() + "0000";
    std::string gitlab = "glpat-" + drawn();
    std::string api_key = drawn();
    std::string agent_key = drawn();
    std::string environment = drawn();
    std::string row = drawn();
    std::string words = "ghp_" + drawn() + "0000";
    std::string command = "glpat-" + drawn();
    std::string output = "AKIA0123456789ABCDEF" + drawn();
    std::string mishap = "xoxp-" + drawn();
    std::string reason = "sk-" + drawn();
    std::string answer_header = drawn();
    std::string answer_text = "ghp_" + drawn() + "0000";
    std::string answer_place = drawn();

    std::map<std::string, std::string> by_name(const std::string& database_password,
                                               const std::string& signing_key) const {
        return {{"Slack token", slack},
                {"Slack team's token", slack_team},
                {"GitHub token", github},
                {"GitLab token", gitlab},
                {"signing key", signing_key},
                {"API key", api_key},
                {"agent server's key", agent_key},
                {"database password", database_password},
                {"environment", environment},
                {"somebody's row", row},
                {"agent's words", words},
                {"agent's command", command},
                {"tool's output", output},
                {"error on the way", mishap},
                {"error's reason", reason},
                {"header of an answer", answer_header},
                {"text of an answer", answer_text},
                {"redirect", answer_place}};
    }
};

/// What is searched, by what it is.
using Haystacks = std::map<std::string, std::string>;

Settings settings(const Planted& planted, const TempDir& folder) {
    std::ofstream(folder.path() / "gitlab") << planted.gitlab << "\n";
    return {{"github.token", "env:PLANTED_GITHUB"},
            {"gitlab.token", "file:" + (folder.path() / "gitlab").string()},
            {"slack.token", planted.slack},
            {"slack.teams.T7.token", planted.slack_team},
            {"worker.api_key", planted.api_key},
            {"log.level", "debug"}};
}

/// Events in V0's words, numbered by the test.
class ConversationScript {
  public:
    explicit ConversationScript(std::string conversation) : conversation_(std::move(conversation)) {}
    ConversationScript& add(Json event) {
        event["id"] = records_.size() + 1;
        event["timestamp"] = "2026-11-21T09:00:00.000000";
        if (!event.contains("source")) event["source"] = "agent";
        records_.push_back({.key = conversation_, .value = event.dump()});
        return *this;
    }
    ConversationScript& state(const std::string& state, const std::string& reason = "") {
        return add({{"source", "environment"},
                    {"observation", "agent_state_changed"},
                    {"extras", {{"agent_state", state}, {"reason", reason}}}});
    }
    const std::vector<Record>& records() const { return records_; }

  private:
    std::string conversation_;
    std::vector<Record> records_;
};

std::vector<Record> records_of_work(const Planted& planted) {
    ConversationScript script("planted-work");
    script.add({{"source", "user"}, {"action", "message"}, {"args", {{"content", "Mend it."}}}});
    script.state("running");
    script.add({{"action", "run"}, {"args", {{"command", "TOKEN=" + planted.command + " pytest -q"}}}});
    script.add({{"observation", "run"},
                {"cause", 3},
                {"content", "api_key=" + planted.output},
                {"extras", {{"command", "pytest"}, {"metadata", {{"exit_code", 1}}}}}});
    script.add({{"observation", "error"}, {"content", "Bad credentials: " + planted.mishap}});
    script.add({{"action", "finish"},
                {"args", {{"final_thought", "Done. I have used " + planted.words + " for it."}}}});
    script.state("finished");
    return script.records();
}

std::vector<Record> records_of_an_error(const Planted& planted) {
    ConversationScript script("planted-error");
    script.add({{"source", "user"}, {"action", "message"}, {"args", {{"content", "Mend it."}}}});
    script.state("running");
    script.state("error", "AuthenticationError: the key " + planted.reason + " is refused");
    return script.records();
}

std::string dump_of(const Rig& rig) {
    std::string dump;
    for (const Row& table : rig.query("SHOW TABLES"))
        for (const Row& row : rig.query("SELECT * FROM " + table.at(0).value()))
            for (const auto& column : row) dump += column.value_or("NULL") + "\n";
    return dump;
}

std::string command_lines() {
    std::string lines;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline");
        lines.append(std::istreambuf_iterator<char>(file), {});
        lines += '\n';
    }
    return lines;
}

std::string file_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

epilogue::HttpAnswer ask_api(const WorkerProcess& worker, const std::string& key) {
    epilogue::HttpRequest request;
    request.url = worker.url("/api/callbacks");
    request.headers = {"X-Session-API-Key: " + key};
    return epilogue::HttpClient().send(request);
}

/// Callbacks on every platform, and one on a conversation that only `agent_server` knows; returns the one
/// on GitHub.
std::int64_t add_rows(const Rig& rig, const TempDir& folder, const Planted& planted,
                      FakeAgentServer& agent_server) {
    const auto add = [&](const std::string& conversation, const std::string& processor, const Json& json) {
        const auto file = folder.path() / "processor.json";
        std::ofstream(file) << json.dump();
        return rig.add_callback({"--conversation", conversation, "--processor", processor,
                                 "--processor-json-file", file.string()});
    };
    add("planted-work", "slack", {{"channel", "C1"}});
    add("planted-work", "slack", {{"channel", "C2"}, {"team_id", "T7"}});
    const auto github = add("planted-work", "github", {{"repo", "octo/planted"}, {"number", 1}});
    add("planted-work", "gitlab", {{"project", 4455}, {"iid", 1}, {"kind", "issue"}});
    add("planted-work", "log", Json::object());
    // Nothing of it comes by the topic: the worker asks the server, with the key.
    const std::string asked = "00000000000000000000000000000001";
    agent_server.add(asked,
                     {message_event("u1", 1, "user", "Mend it."), message_event("w1", 2, "agent", "Mended."),
                      status_event("f1", 3, "finished")},
                     "finished");
    rig.add_callback({"--conversation", asked, "--processor", "log", "--agent-url", agent_server.url(),
                      "--agent-key", "env:PLANTED_AGENT"});
    add("planted-work", "github", {{"repo", "octo/planted"}, {"number", 2}});
    rig.query(
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, created_at) "
        "VALUES "
        "('planted-work', 'github', '" +
        Json{{"repo", "octo/planted"}, {"number", 3}, {"decrypted_api_key", planted.row}}.dump() +
        "', UTC_TIMESTAMP(6))");
    for (const int number : {11, 12, 13, 14})
        add("planted-error", "github", {{"repo", "octo/planted"}, {"number", number}});
    return github;
}

/// Lets the platform answer some requests with errors that hold secrets.
void plant_in_answers(const FakePlatformProcess& platform, const Planted& planted) {
    const auto at = [](int number) {
        return "/octo/planted/issues/" + std::to_string(number) + "/comments$";
    };
    platform.rules(
        {{{"do", "status"},
          {"path", at(11)},
          {"status", 429},
          {"headers", {{"retry-after", "1"}, {"set-cookie", "session=" + planted.answer_header}}}},
         {{"do", "status"},
          {"path", at(12)},
          {"status", 422},
          {"answer", {{"message", "not with " + planted.answer_text}}}},
         {{"do", "status"},
          {"path", at(13)},
          {"status", 301},
          {"headers", {{"location", "https://example.org/moved?access_token=" + planted.answer_place}}}}});
}

/// The text of each post, by platform and place.
std::map<std::string, std::string> posts_of(const FakePlatformProcess& platform) {
    std::map<std::string, std::string> posts;
    for (const auto& post : platform.visible()) posts[post.platform + " " + post.path] = post.body;
    return posts;
}

/// That each secret was in use.
void check_use(const Rig& rig, WorkerProcess& worker, const Planted& planted, std::int64_t github) {
    auto posts = posts_of(rig.platform());
    for (const char* place :
         {"slack C1", "slack C2", "github octo/planted#1", "gitlab 4455#1", "github octo/planted#2",
          "github octo/planted#3", "github octo/planted#11", "github octo/planted#14"})
        BOOST_TEST(posts.contains(place), place);
    const auto of_github =
        rig.query("SELECT delivery_id FROM deliveries WHERE callback_id=" + std::to_string(github))
            .at(0)
            .at(0)
            .value();
    BOOST_TEST(contains(posts["github octo/planted#1"], marker_of(rig.key(), of_github)));
    const auto environment = file_text("/proc/" + std::to_string(worker.process().pid()) + "/environ");
    BOOST_TEST(contains(environment, planted.environment));
    BOOST_TEST(contains(environment, planted.github));
    BOOST_TEST(ask_api(worker, planted.api_key).status == 200);
    BOOST_TEST(ask_api(worker, planted.api_key + "0").status == 401);
    std::size_t misbehaved = 0;
    for (const auto& entry : rig.platform().log()) misbehaved += entry.at("action") == "status" ? 1U : 0U;
    BOOST_TEST(misbehaved == 3U);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries WHERE state='FAILED'") == 2);
    BOOST_TEST(contains(posts["github octo/planted#1"], "I have used «GitHub token removed» for it."));
    BOOST_TEST(contains(posts["github octo/planted#1"], "pytest"));
    BOOST_TEST(contains(posts["github octo/planted#14"], "AuthenticationError"));
}

/// What commands print and the worker's log, added to the rest; ends the worker.
void add_outputs(Haystacks& haystacks, const Rig& rig, WorkerProcess& worker, std::int64_t github) {
    std::vector<std::vector<std::string>> commands{{"check"},
                                                   {"callbacks", "list", "--json"},
                                                   {"deliveries", "list", "--json"},
                                                   {"dead-letters", "list"},
                                                   {"offsets", "show"},
                                                   {"callbacks", "show", std::to_string(github)},
                                                   {"migrate", "--status"}};
    for (const Row& row : rig.query("SELECT delivery_id FROM deliveries"))
        commands.push_back({"deliveries", "show", "--json", row.at(0).value()});
    for (const auto& args : commands) {
        const auto done = rig.epilogue().run(args);
        BOOST_TEST(done.status == 0, args[0] << " " << args[1] << ": " << done.err);
        haystacks["what `" + args[0] + "` prints"] += done.out + done.err;
    }
    for (const auto& args : {std::vector<std::string>{"doctor"}, {"preview", std::to_string(github)}}) {
        const auto done = rig.epilogue().run(args);
        BOOST_TEST(done.out.size() > 100U, done.err);
        haystacks["what `" + args[0] + "` prints"] = done.out + done.err;
    }
    BOOST_TEST(worker.process().stop(std::chrono::seconds{30}) == 0);
    haystacks["the log"] = worker.process().err() + worker.process().out();
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t hits = 0;
    for (auto found = text.find(part); found != std::string::npos; found = text.find(part, found + 1)) ++hits;
    return hits;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_planted_secret_is_found_where_it_does_not_belong) {
    const Planted planted;
    const TempDir folder;
    // Both the worker and the commands take them from here.
    ::setenv("PLANTED_GITHUB", planted.github.c_str(), 1);
    ::setenv("PLANTED_AGENT", planted.agent_key.c_str(), 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", planted.environment.c_str(), 1);
    const Rig rig("planted", 2, settings(planted, folder));
    const FakePlatformProcess& platform = rig.platform();
    platform.control("POST", "/tokens",
                     {{"tokens", {planted.slack, planted.slack_team, planted.github, planted.gitlab}}},
                     std::chrono::seconds{60});
    const auto secrets = planted.by_name(server_of_this_program().password(), rig.key_text());

    FakeAgentServer agent_server("1.58.0", planted.agent_key);
    const auto github = add_rows(rig, folder, planted, agent_server);
    plant_in_answers(platform, planted);

    auto worker = rig.epilogue().worker();
    eventually("every row is adopted",
               [&] { return rig.number("SELECT COUNT(*) FROM callback_progress") == 12; });
    rig.publish(records_of_work(planted));
    rig.publish(records_of_an_error(planted));
    eventually("nothing more comes of any post", [&] {
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state IN ('SENT','FAILED')") == 12;
    });

    check_use(rig, worker, planted, github);

    Haystacks haystacks;
    for (const auto& [place, body] : posts_of(platform)) haystacks["the post on " + place] = body;
    haystacks["the database"] = dump_of(rig);
    haystacks["the metrics"] = worker.get("/metrics").body;
    haystacks["/readyz"] = worker.get("/readyz").body;
    haystacks["the API"] = ask_api(worker, planted.api_key).body;
    haystacks["the command lines"] = command_lines();
    add_outputs(haystacks, rig, worker, github);
    BOOST_TEST(contains(haystacks["the log"], "conversation ended"));
    BOOST_TEST(contains(haystacks["the database"], "«GitHub token removed»"));

    BOOST_TEST(secrets.size() >= 12U);
    for (const auto& [name, secret] : secrets) {
        for (const auto& [what, text] : haystacks) {
            // A row into which others put a secret holds it, and nothing else does.
            const bool is_of_row = what == "the database" && secret == planted.row;
            BOOST_TEST(count_of(text, secret) == (is_of_row ? 1U : 0U), name << " is in " << what);
        }
    }
    std::cout << secrets.size() << " secrets, " << haystacks.size() << " places searched" << std::endl;
}
