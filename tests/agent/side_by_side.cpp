// Epilogue's client beside the one of OpenHands' SDK 1.7.3: the same conversations, the same servers, one
// run. Makes docs/agent-client.md.
#define BOOST_TEST_MODULE agent_side_by_side
#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/scripted_conversation.h"
#include "tests/support/eventually.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/golden.h"
#include "tests/support/process.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

constexpr const char* sdk = "1.7.3";
constexpr const char* newer = "1.58.0";
constexpr int limit_s = 10;  // of a run whose end the SDK's client does not see
constexpr int long_limit_s = 600;

constexpr const char* introduction =
    R"(# The agent client beside the one it takes the place of

Made by `agent_side_by_side` from what both clients did, and compared with what they do in each test run; written anew by `EPILOGUE_UPDATE_GOLDEN=1 ctest --preset release -R '^agent_side_by_side$'`. Nothing here is written by hand.

Each row is played by both clients in the same run against the same real agent server, with a scripted LLM: by `agent::RemoteConversation`, and by the `RemoteConversation` of the Python package openhands-sdk 1.7.3. What is compared is how `run()` ends, and whether the list of events is the server's log afterwards.

| what happens | server | Epilogue | openhands-sdk 1.7.3 |
| --- | --- | --- | --- |
)";

/// What became of a client's list of events, in the words of the table.
std::string events_in_words(bool missed, bool doubled) {
    if (missed) return "; events are missing, for good";
    return doubled ? "; events stand twice" : "; all events, each once";
}

/// One conversation for both clients.
struct Row {
    std::string name;
    std::string what;
    std::string script;
    RealServer& server;
    unsigned short port = 0;          ///< of the server, or of a proxy before it
    bool tells_of_events = true;      ///< else of the run's end alone
    std::function<void()> between{};  ///< done between two runs, once both clients have ended the first
};

/// The SDK's client, which runs all rows in one process.
class PythonClient {
  public:
    PythonClient(const RealServer& home, const std::vector<Row>& rows) {
        Json rows_json = Json::array();
        for (const Row& row : rows) {
            Json& row_json =
                rows_json.emplace_back(Json{{"name", row.name},
                                            {"server", "http://127.0.0.1:" + std::to_string(row.port)},
                                            {"llm", row.server.llm_url()},
                                            {"script", row.script},
                                            {"work", row.server.work().string()},
                                            {"limit_s", row.tells_of_events ? long_limit_s : limit_s}});
            if (row.between) row_json["between"] = go_on_file(row.name).string();
        }
        process_ = std::make_unique<Process>(
            Command{{home.environment() / "bin" / "python",
                     EPILOGUE_SOURCE_DIR "/tests/agent/python_client.py", rows_json.dump()},
                    {{"LITELLM_LOCAL_MODEL_COST_MAP", "True"},
                     {"OPENHANDS_SUPPRESS_BANNER", "1"},
                     {"OTEL_SDK_DISABLED", "true"}}});
    }

    /// Waits until it has created its conversations: 1.7.3 fails others while it creates one.
    void wait_ready() {
        eventually("the SDK's client", run_patience, [&] { return has_said("ready") || died(); });
    }
    /// Waits until the first of two runs has ended.
    void wait_between(const Row& row) {
        eventually("the first run of the SDK's client: " + row.name, run_patience,
                   [&] { return has_said(row.name) || result_of(row.name) || died(); });
    }
    void go_on(const Row& row) const { std::ofstream(go_on_file(row.name)) << "go on"; }

    /// How the row ended.
    std::string wait_words(const Row& row) {
        const Json result = *eventually("the end of the SDK's client: " + row.name, run_patience, [&] {
            auto found = result_of(row.name);
            if (!found) died();
            return found;
        });
        if (result.contains("failed")) return "fails: " + result["failed"].get<std::string>();
        const auto raised = result.at("raised").get<std::string>();
        std::string words = "`run()` returns";
        if (raised.find("Run timed out") != std::string::npos)
            words = "nothing until its time limit, then `Run timed out`";
        else if (!raised.empty())
            words = "`run()` raises " + raised;
        return words + (row.tells_of_events
                            ? events_in_words(result.at("missed") != 0, result.at("doubled") != 0)
                            : "");
    }

  private:
    std::filesystem::path go_on_file(const std::string& row) const { return folder_.path() / row; }

    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        std::istringstream out(process_->out());
        for (std::string line; std::getline(out, line);) lines.push_back(line);
        return lines;
    }
    bool has_said(const std::string& line) const {
        const auto said = lines();
        return std::find(said.begin(), said.end(), line) != said.end();
    }
    std::optional<Json> result_of(const std::string& row) const {
        for (const std::string& line : lines())
            if (const Json result = Json::parse(line, nullptr, false);
                result.is_object() && result.value("name", "") == row)
                return result;
        return std::nullopt;
    }
    /// Throws when it has.
    bool died() {
        const std::lock_guard lock(mutex_);
        if (process_->running()) return false;
        if (process_->wait(0ms) != 0) throw std::runtime_error("the SDK's client: " + process_->err());
        return false;
    }

    TempDir folder_;
    std::mutex mutex_;  ///< the process is not for several threads
    std::unique_ptr<Process> process_;
};

/// Our client's part of a row.
std::string our_words(const Row& row, const std::function<void()>& between) {
    ScriptedConversation scripted(row.server, row.script, "{}", row.port);
    RunEnd end = scripted.send().run();
    if (row.between) {
        between();
        end = scripted.send().run();
    }
    std::string words = "`run()` returns";
    if (end.failed()) words = "`" + end.status + "` as soon as it is so";
    if (const auto colon = end.reason.find(": "); colon != std::string::npos)
        words += ", with the reason: `" + end.reason.substr(0, colon) + ": …`";
    const std::string difference = scripted.difference();
    if (!difference.empty()) return words + "; " + difference;
    return words + (row.tells_of_events ? events_in_words(false, false) : "");
}

std::string line_of(const Row& row, PythonClient& python) {
    const std::string ours = our_words(row, [&] {
        python.wait_between(row);
        row.between();
        python.go_on(row);
    });
    return "| " + row.what + " | " + row.server.version() + " | " + ours + " | " + python.wait_words(row) +
           " |\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(both_clients_do_what_the_page_says) {
    auto starting = std::async(std::launch::async, [] { return std::make_unique<RealServer>(newer); });
    RealServer old(sdk);
    const auto modern = starting.get();
    FaultProxy late(old.port());
    late.plan({.action = ProxyAction::hold, .containing = "/sockets/events/", .times = 1000});
    const auto release = [&] {
        late.forget_plans();
        late.release();
    };
    FaultProxy dropping(old.port());
    const std::vector<Row> rows{
        {"error", "the LLM fails", "llm401", old, old.port(), false},
        {"stuck", "the agent repeats itself", "stuck", old, old.port(), false},
        {"newer", "the server is newer: it has other fields and other kinds of events", "finish", *modern,
         modern->port()},
        {"late", "events come before the socket stands", "message", old, late.port(), true, release},
        {"dropped", "the socket breaks between two runs", "message", old, dropping.port(), true,
         [&] { dropping.cut_all(); }},
    };
    // Alone, and last: it ends the server's other conversations.
    const auto kill_and_start = [&] {
        old.end(SIGKILL);
        old.start();
    };
    const Row restarted{"restarted",   "the server is killed and started again between two runs",
                        "message",     old,
                        old.port(),    true,
                        kill_and_start};
    auto all = rows;
    all.push_back(restarted);
    PythonClient python(old, all);
    python.wait_ready();
    std::vector<std::future<std::string>> lines;
    for (const Row& row : rows)
        lines.push_back(std::async(std::launch::async, [&] { return line_of(row, python); }));
    std::string page = introduction;
    for (auto& line : lines) page += line.get();
    page += line_of(restarted, python);
    BOOST_TEST(difference_from_file("docs/agent-client.md", page) == "");
}
