// Recorded logs of real agent servers, read by a worker that has seen nothing of them in the topic.
#define BOOST_TEST_MODULE agent_logs
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "log_lines.h"
#include "schemas/decode.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/integration/owned_partition.h"
#include "tests/integration/recording_set.h"
#include "tests/support/expect.h"
#include "worker/agents/reconciler.h"
#include "worker/sources/registry.h"
#include "worker/store/reconcile_rows.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;

Database& server() {
    static Database one;
    return one;
}

/// The recordings of what REST told: whole logs in the server's order.
std::vector<RecordedConversation> recorded_logs() {
    std::vector<RecordedConversation> logs;
    for (const auto& recording : recordings())
        if (recording.recording.ends_with(".rest.jsonl"))
            logs.push_back(with_new_ids(recording, *parse_instant("2026-11-20T00:00:00Z")));
    return logs;
}

/// A database, and a worker's part that asks an agent server about its conversations.
struct AgentLogEnvironment {
    explicit AgentLogEnvironment(const std::string& name)
        : owned(server(), name),
          planner(expect(owned.store().installation()).id, summary_rules({})),
          directory(endpoints_in(owned.store()), session_key_sealer({}),
                    {agent_server.url(), Secret("key"), agent::Deadlines{}}),
          reconciler(owned.store(), planner, logs_of(directory), {"group", "topic", "the test", {}},
                     {[this](ReconcileReason, std::string_view result) { ++results[std::string(result)]; },
                      [](const auto&) {}}) {}

    /// Asks about it at once.
    void ask(const std::string& conversation) {
        expect(owned.store().transact(
            [&](Transaction& transaction) -> Result<void> {
                ReconcileRow row;
                row.conversation_id = ConversationId(conversation);
                return transaction.reconciles().request(row);
            },
            [](Transaction&) -> Result<bool> { return false; }));
    }
    void work() {
        while (owned.number("SELECT COUNT(*) FROM catch_ups") > 0) {
            expect(reconciler.sweep_once());
            while (const auto task = reconciler.begin()) expect(reconciler.work_at(*task, {}));
        }
    }

    FakeAgentServer agent_server;
    OwnedPartition owned;
    Planner planner;
    AgentDirectory directory;
    std::map<std::string, int> results;
    Reconciler reconciler;
};

}  // namespace

BOOST_AUTO_TEST_CASE(of_each_recorded_log_the_last_turn_is_reported_and_its_records_come_too_late) {
    AgentLogEnvironment environment("logs");
    const auto logs = recorded_logs();
    BOOST_TEST(logs.size() == 60U);
    std::map<std::string, std::int64_t> callbacks;
    for (const auto& log : logs) {
        std::string status = "idle";
        for (const std::string& event : log.events)
            if (const auto json = nlohmann::json::parse(event); json.value("key", "") == "execution_status")
                status = json.at("value");
        environment.agent_server.add(log.id, log.events, status);
        callbacks[log.id] = environment.owned.add(environment.owned.store(), log.id);
        environment.ask(log.id);
    }
    environment.work();

    const auto require_last_turns = [&] {
        for (const auto& log : logs) {
            BOOST_TEST_CONTEXT(log.recording) {
                // A turn that is open is what there is to wait for.
                std::vector<std::string> owed;
                if (log.open_turn.empty() && !log.turns.empty()) owed.push_back(log.turns.back().turn_key);
                BOOST_TEST(environment.owned.turns_of(callbacks[log.id]) == owed,
                           boost::test_tools::per_element());
                if (!owed.empty())
                    BOOST_TEST(environment.owned.number("SELECT COUNT(*) FROM deliveries WHERE verdict='" +
                                                        log.turns.back().verdict + "' AND callback_id=" +
                                                        std::to_string(callbacks[log.id])) == 1);
            }
        }
    };
    require_last_turns();
    BOOST_TEST(environment.results["ended"] > 40);

    for (const auto& log : logs)
        expect(environment.owned.apply(environment.owned.store(),
                                       records_of(log, *parse_instant("2026-11-20T00:00:00Z"))));
    expect(environment.owned.tick(environment.owned.store()));
    require_last_turns();
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_asked_again_after_longer_pauses_and_then_given_up) {
    AgentLogEnvironment environment("unanswered");
    const auto& owned = environment.owned;
    int asked = 0;
    std::vector<std::string> results;
    Reconciler reconciler(
        environment.owned.store(), environment.planner,
        [&asked](const std::string&, const std::stop_token&) -> tl::expected<ServerLog, LogReadError> {
            ++asked;
            return tl::make_unexpected(LogReadError{LogReadError::Why::unreachable, "no answer"});
        },
        {"group", "topic", "the test", {}},
        {[&results](ReconcileReason, std::string_view result) { results.emplace_back(result); },
         [](const auto&) {}});
    const std::string id = "0123456789abcdef0123456789abcdef";
    environment.owned.add(environment.owned.store(), id);
    environment.ask(id);
    const auto session = owned.open_session();
    const auto micros = [&](const std::string& time) {
        return owned.number("SELECT CAST(UNIX_TIMESTAMP(" + time + ")*1000000 AS SIGNED)");
    };
    const auto try_now = [&] {
        expect(session->execute("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)"));
        return epilogue::testing::lines_of([&] {
            expect(reconciler.sweep_once());
            while (const auto task = reconciler.begin()) expect(reconciler.work_at(*task, {}));
        });
    };
    const std::string next_try = "(SELECT next_try_at FROM catch_ups)";
    for (const std::int64_t pause : {5, 15, 45, 120}) {
        const auto before = micros("UTC_TIMESTAMP(6)");
        BOOST_TEST(try_now().size() <= 1U);  // the text's end: no line
        const auto after = micros("UTC_TIMESTAMP(6)");
        BOOST_TEST(micros(next_try) >= before + pause * 1'000'000);
        BOOST_TEST(micros(next_try) <= after + pause * 1'000'000);
    }
    const auto said = try_now();
    BOOST_TEST(asked == 5);
    BOOST_TEST(owned.number("SELECT COUNT(*) FROM catch_ups") == 0);
    BOOST_TEST(results == std::vector<std::string>{"unreachable"}, boost::test_tools::per_element());
    BOOST_TEST(said.at(0).find("the agent server did not tell what became of a conversation") !=
               std::string::npos);
    BOOST_TEST(said.at(0).find(id) != std::string::npos);
}
