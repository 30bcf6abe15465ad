// Epilogue's client beside the one of OpenHands' SDK, of the version that EPILOGUE_AGENT_SERVER names: the
// same conversations, the same server, one run. Makes that version's part of docs/agent-client.md.
#define BOOST_TEST_MODULE agent_side_by_side
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <optional>
#include <unordered_set>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/last_words.h"
#include "base/instant.h"
#include "tests/agent/client_page.h"
#include "tests/agent/scripted_conversation.h"
#include "tests/agent/sdk_client.h"
#include "tests/support/eventually.h"
#include "tests/support/fault_proxy.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

constexpr const char* newer = "1.58.0";  // than 1.7.3
constexpr int limit_s = 10;              // of a run whose end the client of 1.7.3 does not see
constexpr int long_limit_s = 600;
constexpr int turns = 9;  // of which each client's delay is the median

constexpr const char* introduction =
    R"(# The agent client beside the one it takes the place of

Made by `agent_side_by_side` from what both clients did, and compared with what they do in each test run, but for the figures.
A version's part is written anew by `EPILOGUE_UPDATE_GOLDEN=1 ctest --preset release -R '^agent_side_by_side_VERSION$'` (with `-C agent_versions` for the newest). Nothing here is written by hand.

Each row is played by both clients in the same run against the same real agent server, with a scripted LLM:
by `agent::RemoteConversation`, and by the `RemoteConversation` of the Python package openhands-sdk of the server's version.
What is compared is how `run()` ends, and whether the list of events is the server's log afterwards. The test fails where the SDK's client does better.
The delay is that between the time in the server's last status and the return of `run()`: the median of nine turns, the clients taking turns.
)";

/// Timestamps of servers have no zone.
struct ServersInUtc {
    ServersInUtc() { ::setenv("TZ", "UTC", 1); }
};

/// One conversation for both clients.
struct Row {
    std::string name;
    std::string what;
    std::string script;
    RealServer& server;
    unsigned short port = 0;          ///< of the server, or of a proxy before it
    std::string ends = "finished";    ///< how the run has to end
    std::string reason{};             ///< of an error: what its text has to name
    bool has_hook = false;            ///< a stop hook that sends the agent on, once
    bool is_goal = false;             ///< a `/goal` loop instead of a message
    std::function<void()> between{};  ///< done between two runs, once both clients have ended the first
};

/// What one client made of a row.
struct Seen {
    std::string id{};
    std::string words{};    ///< how run() ended
    bool is_right = false;  ///< that was the true end
    bool has_all = true;    ///< each event of the log, once
    int worth() const { return (is_right ? 2 : 0) + (is_right && has_all ? 1 : 0); }
};

/// A hook that denies the first end, and is slower with that than an end is settled.
std::string hook_command(const RealServer& server, const std::string& client) {
    const std::string mark = (server.work() / ("denied-to-" + client)).string();
    return "sleep 1; test -e " + mark + " && exit 0; touch " + mark + "; echo 'Go on.' >&2; exit 2";
}

std::vector<EventRef> log_of(const RealServer& server, const std::string& id) {
    return expect(ConversationCalls(server.client(), id).events());
}

/// Whether the agent worked on after `over`: looked at when the work is over for good.
bool works_on(const Row& row, const std::string& id, SystemTime over) {
    if (!row.is_goal && !row.has_hook) return false;
    const auto log = eventually("the end of the work: " + row.name, run_patience, [&] {
        auto events = log_of(row.server, id);
        EventList list;
        list.reconcile(events);
        const bool is_over = row.is_goal
                                 ? std::any_of(events.begin(), events.end(),
                                               [](const EventRef& event) { return event->goal == false; })
                                 : last_words(list).value_or("").starts_with("Script exhausted");
        return is_over ? std::optional(std::move(events)) : std::nullopt;
    });
    return std::any_of(log->begin(), log->end(), [&](const EventRef& event) {
        const auto at = parse_instant(event->timestamp);
        return event->kind == "ActionEvent" && at && *at > over;
    });
}

/// The words of an end and of a list of events.
void describe(Seen& seen, const Row& row, bool is_early, bool missed, bool doubled) {
    seen.is_right = seen.is_right && !is_early;
    seen.has_all = !missed && !doubled;
    if (is_early) seen.words += " too early: the agent works on";
    if (row.ends != "finished") return;
    if (missed)
        seen.words += "; events are missing, for good";
    else
        seen.words += doubled ? "; events stand twice" : "; all events, each once";
}

std::string reason_in_words(const Row& row, const std::string& text) {
    return !row.reason.empty() && text.find(row.reason) != std::string::npos
               ? ", with the reason: `" + row.reason + ": …`"
               : "";
}

Seen ours(const Row& row, const std::function<void()>& between) {
    Json more = Json::object();
    if (row.has_hook) {
        const Json hook{{"type", "command"}, {"command", hook_command(row.server, "us")}, {"timeout", 60}};
        more["hook_config"] = {{"stop", {{{"matcher", "*"}, {"hooks", {hook}}}}}};
    }
    ScriptedConversation scripted(row.server, row.script, more.dump(), row.port);
    Seen seen{scripted->id()};
    if (row.is_goal) {
        const Json goal{{"objective", row.server.task()}, {"max_iterations", 5}};
        expect(row.server.client()->send(
            {.method = "POST", .path = "/api/conversations/" + seen.id + "/goal", .body = goal.dump()}));
        eventually("the first round", run_patience,
                   [&] { return expect(scripted->state()).execution_status() == "running"; });
    } else {
        scripted.send();
    }
    RunEnd end = scripted.run();
    const SystemTime over = std::chrono::system_clock::now();
    if (row.between) {
        between();
        end = scripted.send().run();
    }
    seen.is_right = end.status == row.ends;
    seen.words = end.failed() ? "`" + end.status + "` as soon as it is so" : "`run()` returns";
    seen.words += reason_in_words(row, end.reason);
    const bool is_early = works_on(row, seen.id, over);
    const std::string difference = scripted.difference();
    describe(seen, row, is_early, !difference.empty(), false);
    if (!difference.empty()) seen.words += "; " + difference;
    return seen;
}

Seen theirs(const Row& row, SdkClient& sdk) {
    const Json result = sdk.wait_result(row.name);
    if (result.contains("failed")) return {"", "fails: `" + result["failed"].get<std::string>() + "`"};
    const auto raised = result.at("raised").get<std::string>();
    Seen seen{result.at("id").get<std::string>(), "`run()` returns", row.ends == "finished"};
    if (raised.find("Run timed out") != std::string::npos) {
        seen = {seen.id, "nothing until its time limit, then `Run timed out`"};
    } else if (!raised.empty()) {
        seen.is_right = row.ends != "finished" && raised.find(row.reason) != std::string::npos;
        seen.words = "`run()` raises" + (seen.is_right ? reason_in_words(row, raised) : " `" + raised + "`");
        if (row.ends == "stuck") seen.words += ": stuck";
    }
    const auto over = SystemTime(std::chrono::duration_cast<SystemTime::duration>(
        std::chrono::duration<double>(result.at("over").get<double>())));
    const bool is_early = works_on(row, seen.id, over);
    std::unordered_set<std::string> listed;
    for (const Json& each : result.at("listed")) listed.insert(each.get<std::string>());
    const auto log = log_of(row.server, seen.id);
    const bool missed = std::any_of(log.begin(), log.end(),
                                    [&](const EventRef& event) { return !listed.contains(event->id); });
    describe(seen, row, is_early, missed, listed.size() != result.at("listed").size());
    return seen;
}

/// A line of the table, and what is wrong with it: "" when ours is first or equal.
std::pair<std::string, std::string> line_of(const Row& row, SdkClient& sdk) {
    const Seen us = ours(row, [&] {
        sdk.wait_between(row.name);
        row.between();
        sdk.go_on(row.name);
    });
    const Seen them = theirs(row, sdk);
    std::string wrong;
    if (us.worth() < them.worth()) wrong = row.name + ": " + us.words + " | " + them.words;
    return {"| " + row.what + " | " + row.server.version() + " | " + us.words + " | " + them.words + " |\n",
            wrong};
}

Json row_for_sdk(const Row& row) {
    Json json{{"name", row.name},
              {"server", "http://127.0.0.1:" + std::to_string(row.port)},
              {"llm", row.server.llm_url()},
              {"script", row.script},
              {"work", row.server.work().string()},
              {"limit_s", row.ends != "finished" && wanted_version() == "1.7.3" ? limit_s : long_limit_s}};
    if (row.between) json["between"] = true;
    if (row.is_goal) json["goal"] = row.server.task();
    if (row.has_hook) json["hook"] = hook_command(row.server, "them");
    return json;
}

using Delays = std::vector<std::chrono::duration<double, std::milli>>;

/// How long after each end in the log, one a turn, its run() returned.
Delays delays_of(const RealServer& server, const std::string& id, const std::vector<SystemTime>& returns) {
    Delays delays;
    for (const EventRef& event : log_of(server, id)) {
        if (!ends_run(event->status) || delays.size() == returns.size()) continue;
        delays.emplace_back(returns[delays.size()] - parse_instant(event->timestamp).value());
    }
    if (delays.size() != returns.size()) throw std::runtime_error("not every turn has ended once");
    std::sort(delays.begin(), delays.end());
    return delays;
}

/// How soon both clients tell an end, by turns.
std::string delays_in_words(const RealServer& server, SdkClient& sdk) {
    ScriptedConversation scripted(server, "finishfirst");
    std::vector<SystemTime> ours;
    std::vector<SystemTime> theirs;
    for (int i = 0; i < turns; ++i) {
        expect(scripted->calls().send_message(server.task()));
        if (scripted.run().status != "finished") throw std::runtime_error("a turn did not finish");
        ours.push_back(std::chrono::system_clock::now());
        theirs.push_back(sdk.turn("soon", i));
    }
    const Delays us = delays_of(server, scripted->id(), ours);
    const Delays them = delays_of(server, sdk.wait_result("soon").at("id").get<std::string>(), theirs);
    const auto words = [](const Delays& delays) {
        return fmt::format("{:.0f} ms ({:.0f} ms to {:.0f} ms)", delays[delays.size() / 2].count(),
                           delays.front().count(), delays.back().count());
    };
    const double ratio = them[them.size() / 2] / us[us.size() / 2];
    std::cout << fmt::format("delays: ours {}, theirs {}: {:.1f} times\n", words(us), words(them), ratio);
    return fmt::format(
        "\nAn end is told after {} by Epilogue, after {} by openhands-sdk: {:.1f} times as long.\n",
        words(us), words(them), ratio);
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(ServersInUtc);

BOOST_AUTO_TEST_CASE(both_clients_do_what_the_page_says_and_ours_is_never_behind) {
    const bool is_old = wanted_version() == "1.7.3";
    std::future<std::unique_ptr<RealServer>> starting;
    if (is_old) starting = std::async(std::launch::async, [] { return std::make_unique<RealServer>(newer); });
    RealServer server(wanted_version());
    const auto modern = is_old ? starting.get() : nullptr;
    FaultProxy late(server.port());
    late.plan({.action = ProxyAction::hold, .containing = "/sockets/events/", .times = 1000});
    const auto release = [&] {
        late.forget_plans();
        late.release();
    };
    FaultProxy dropping(server.port());
    std::vector<Row> rows{
        {"error", "the LLM fails", "llm401", server, server.port(), "error", "AuthenticationError"},
        {"stuck", "the agent repeats itself", "stuck", server, server.port(), "stuck"},
        {"late", "events come before the socket stands", "message", server, late.port()},
        {"dropped", "the socket breaks between two runs", "message", server, dropping.port()},
    };
    rows[2].between = release;
    rows[3].between = [&] { dropping.cut_all(); };
    if (is_old) {
        rows.push_back({"newer", "the server is newer: it has other fields and other kinds of events",
                        "finish", *modern, modern->port()});
    } else {
        rows.push_back({"hook", "a stop hook sends the agent on", "finish", server, server.port()});
        rows.back().has_hook = true;
        rows.push_back({"goal", "a `/goal` loop has two rounds", "goal", server, server.port()});
        rows.back().is_goal = true;
    }
    // Alone, and last: it ends the server's other conversations.
    Row restarted{"restarted", "the server is killed and started again between two runs", "message", server,
                  server.port()};
    restarted.between = [&] {
        server.end(SIGKILL);
        server.start();
    };
    Json all = Json::array();
    for (const Row& row : rows) all.push_back(row_for_sdk(row));
    all.push_back(row_for_sdk(restarted));
    all.push_back(row_for_sdk({"soon", "", "finishfirst", server, server.port()}));
    all.back().update({{"turns", turns}, {"go_on", true}});
    SdkClient sdk(server, all);
    sdk.wait_ready();

    std::string part = "\n| what happens | server | Epilogue | openhands-sdk " + wanted_version() +
                       " |\n| --- | --- | --- | --- |\n";
    std::vector<std::future<std::pair<std::string, std::string>>> lines;
    for (const Row& row : rows)
        lines.push_back(std::async(std::launch::async, [&] { return line_of(row, sdk); }));
    const auto take = [&](const std::pair<std::string, std::string>& line) {
        part += line.first;
        BOOST_TEST(line.second == "");
    };
    for (auto& line : lines) take(line.get());
    const std::string delays = delays_in_words(server, sdk);
    take(line_of(restarted, sdk));
    BOOST_TEST(difference_from_page(introduction, "## Beside openhands-sdk " + wanted_version(),
                                    part + delays) == "");
}
