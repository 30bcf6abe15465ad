// Recorded logs of real agent servers, read by a worker that has seen nothing of them in the topic.
#define BOOST_TEST_MODULE agent_logs
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "log_lines.h"
#include "schemas/decode.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/integration/owned_partition.h"
#include "tests/integration/recording_set.h"
#include "tests/support/expect.h"
#include "worker/agents/agent_endpoint.h"
#include "worker/agents/reconciler.h"
#include "worker/apply/registration.h"
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

namespace {

/// Agent servers as a test wants them, and the part of a worker that asks them.
struct Asked {
    explicit Asked(const std::string& name)
        : environment(name),
          reconciler(environment.owned.store(), environment.planner,
                     {[this](const std::string& id, const std::stop_token&) {
                          ++reads;
                          return read(id);
                      },
                      [](const std::string& id) { return Result<std::string>("http://" + id.substr(0, 6)); }},
                     {"group", "topic", "the test", {}},
                     {[this](ReconcileReason, std::string_view result) { results.emplace_back(result); },
                      [](const auto&) {}}),
          session(environment.owned.open_session()) {}

    std::int64_t number(const std::string& sql) const { return environment.owned.number(sql); }
    std::int64_t micros(const std::string& time) const {
        return number("SELECT CAST(UNIX_TIMESTAMP(" + time + ")*1000000 AS SIGNED)");
    }
    /// Registers a callback and has the server asked.
    std::int64_t add(const std::string& conversation) {
        const auto id = environment.owned.add(environment.owned.store(), conversation);
        environment.ask(conversation);
        return id;
    }
    std::string reason() const {
        return environment.owned.query("SELECT reason FROM callback_progress").at(0).at(0).value_or("");
    }
    void write(const std::string& sql) const { expect(session->execute(sql)); }
    /// Asks about all that there is, at once; returns the lines of the log.
    std::vector<std::string> try_now() {
        write("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)");
        return epilogue::testing::lines_of([&] {
            expect(reconciler.sweep_once());
            while (const auto task = reconciler.begin()) expect(reconciler.work_at(*task, {}));
        });
    }

    AgentLogEnvironment environment;
    std::atomic<int> reads = 0;
    std::function<tl::expected<ServerLog, LogReadError>(const std::string& id)> read =
        [](const std::string&) -> tl::expected<ServerLog, LogReadError> {
        return tl::make_unexpected(LogReadError{Hindrance::unreachable, "no answer"});
    };
    std::vector<std::string> results;
    Reconciler reconciler;
    std::unique_ptr<MysqlSession> session;
};

/// A log with an end.
ServerLog ended_log() {
    ServerLog log;
    Decoder decoder;
    for (const std::string& event :
         {message_event("e0", 0, "user", "Go."), message_event("e1", 1, "agent", "Which one?"),
          status_event("e2", 2, "finished")})
        log.events.push_back(std::get<Event>(decoder.decode(event)));
    log.status = "finished";
    return log;
}

std::string conversation_of(const std::string& server, int number) {
    const std::string digits = std::to_string(number);
    return server + std::string(26 - digits.size(), '0') + digits;
}

/// Holds what reads, until it is released.
class HeldReads {
  public:
    void hold() {
        std::unique_lock lock(mutex_);
        ++held_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
    }
    void wait_for(int held) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return held_ >= held; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int held_ = 0;
    bool is_open_ = false;
};

const std::string one_conversation = "0123456789abcdef0123456789abcdef";

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_asked_for_a_day_and_its_callback_says_why) {
    Asked asked("unanswered");
    asked.add(one_conversation);
    const std::string next_try = "(SELECT next_try_at FROM catch_ups)";
    for (const std::int64_t pause : {5, 15, 45, 120, 300, 600, 600}) {
        const auto before = asked.micros("UTC_TIMESTAMP(6)");
        BOOST_TEST(asked.try_now().size() <= 1U);  // the text's end: no line
        const auto after = asked.micros("UTC_TIMESTAMP(6)");
        BOOST_TEST(asked.micros(next_try) >= before + pause * 1'000'000);
        BOOST_TEST(asked.micros(next_try) <= after + pause * 1'000'000);
        BOOST_TEST(asked.reason().starts_with("no answer; it is asked again until "), asked.reason());
    }
    asked.write("UPDATE catch_ups SET asked_at=asked_at-INTERVAL 23 HOUR");
    asked.try_now();
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups WHERE hindrance='unreachable'") == 1);

    asked.write("UPDATE catch_ups SET asked_at=asked_at-INTERVAL 1 HOUR");
    const auto said = asked.try_now();
    BOOST_TEST(asked.reads == 9);
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups") == 0);
    BOOST_TEST(asked.results == std::vector<std::string>{"unreachable"}, boost::test_tools::per_element());
    BOOST_TEST(said.at(0).find("the agent server did not tell what became of a conversation") !=
               std::string::npos);
    BOOST_TEST(said.at(0).find(one_conversation) != std::string::npos);
    BOOST_TEST(asked.reason().starts_with("no answer; it is not asked any more"), asked.reason());
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM callback_progress WHERE phase='watching'") == 1);
}

BOOST_AUTO_TEST_CASE(a_callback_says_no_more_what_hindered_once_the_server_or_the_topic_has_told) {
    Asked asked("told");
    const auto callback = asked.add(one_conversation);
    asked.try_now();
    BOOST_TEST(asked.reason().starts_with("no answer"));
    asked.read = [](const std::string&) { return ended_log(); };
    asked.try_now();
    BOOST_TEST(asked.environment.owned.turns_of(callback).size() == 1U);
    BOOST_TEST(asked.reason() == "");
}

BOOST_AUTO_TEST_CASE(while_a_stop_hook_thinks_its_server_is_asked_again_and_nothing_is_told) {
    Asked asked("thinking");
    const auto callback = asked.add(one_conversation);
    ServerLog log = ended_log();
    log.has_stop_hook = true;
    const auto ended_at = [&log](Instant end) {
        for (Event& event : log.events) event.timestamp = end;
    };
    ended_at(Instant(Micros(asked.micros("UTC_TIMESTAMP(6)"))) - std::chrono::seconds(5));
    asked.read = [&](const std::string&) { return log; };
    for (int tries = 0; tries < 3; ++tries) asked.try_now();
    BOOST_TEST(asked.reads == 3);
    BOOST_TEST(asked.environment.owned.turns_of(callback).empty());
    const std::string waiting =
        "SELECT COUNT(*) FROM catch_ups WHERE attempts=0 AND owner IS NULL AND next_try_at BETWEEN "
        "UTC_TIMESTAMP(6) AND UTC_TIMESTAMP(6)+INTERVAL 30 SECOND";
    BOOST_TEST(asked.number(waiting) == 1);

    log.events.push_back(std::get<Event>(Decoder().decode(stop_hook_event("e3", 3, false))));
    ended_at(*log.events.front().timestamp);
    asked.try_now();
    BOOST_TEST(asked.environment.owned.turns_of(callback).size() == 1U);
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups") == 0);
}

BOOST_AUTO_TEST_CASE(a_gap_in_any_partition_concerns_a_conversation_that_its_server_alone_has_told) {
    Asked asked("guessed");
    asked.add(one_conversation);
    asked.read = [](const std::string&) { return ended_log(); };
    asked.try_now();
    asked.write("UPDATE callback_progress SET phase='watching'");
    const std::string elsewhere = "(SELECT partition_id+1 FROM conversations)";
    asked.write(
        "INSERT INTO log_gaps (topic, partition_id, from_offset, why, noticed_at, asked_until, "
        "last_callback) "
        "SELECT 't', " +
        elsewhere +
        ", 0, 'retention', UTC_TIMESTAMP(6), 0, MAX(callback_id) FROM "
        "callback_progress");
    asked.try_now();
    // This one has no server of its own that could be asked: it is counted as that.
    BOOST_TEST(asked.number("SELECT without_server FROM log_gaps") == 1);
}

BOOST_AUTO_TEST_CASE(to_wake_a_callback_that_is_awake_has_its_server_asked_at_once_and_for_another_day) {
    Asked asked("woken");
    const auto callback = asked.add(one_conversation);
    asked.write("UPDATE catch_ups SET asked_at=asked_at-INTERVAL 23 HOUR, attempts=100");
    asked.try_now();
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups WHERE next_try_at>UTC_TIMESTAMP(6)") == 1);
    const auto wake = [&] {
        return expect(wake_callback(asked.environment.owned.store(), asked.environment.planner, {callback},
                                    {std::chrono::hours{2}, true}));
    };
    BOOST_TEST((wake() == Woken::asked));
    const std::string anew =
        "SELECT COUNT(*) FROM catch_ups WHERE next_try_at<=UTC_TIMESTAMP(6) AND attempts=0 AND "
        "asked_at>UTC_TIMESTAMP(6)-INTERVAL 1 HOUR";
    BOOST_TEST(asked.number(anew) == 1);
    // Also when it was given up.
    asked.write("DELETE FROM catch_ups");
    BOOST_TEST((wake() == Woken::asked));
    BOOST_TEST(asked.number(anew) == 1);
    // Nothing is to be asked about what is known.
    asked.read = [](const std::string&) { return ended_log(); };
    asked.try_now();
    BOOST_TEST((wake() == Woken::awake));
    expect(cancel_callback(asked.environment.owned.store(), {callback}));
    BOOST_TEST((wake() == Woken::over));
}

BOOST_AUTO_TEST_CASE(an_address_that_is_kept_has_its_server_asked_at_once) {
    Asked asked("kept");
    asked.add(one_conversation);
    asked.try_now();
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups WHERE next_try_at>UTC_TIMESTAMP(6)") == 1);
    expect(keep_endpoint(asked.environment.owned.store(),
                         {ConversationId(one_conversation), "http://127.0.0.1:1", ""}));
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups WHERE next_try_at<=UTC_TIMESTAMP(6)") == 1);
}

BOOST_AUTO_TEST_CASE(forty_conversations_of_a_frozen_server_hold_up_none_of_another) {
    Asked asked("frozen");
    HeldReads held_reads;
    asked.read = [&](const std::string& id) -> tl::expected<ServerLog, LogReadError> {
        if (id.starts_with("aaaaaa")) held_reads.hold();
        return tl::make_unexpected(LogReadError{Hindrance::unreachable, "no answer"});
    };
    for (int i = 0; i < 40; ++i) asked.add(conversation_of("aaaaaa", i));
    for (int i = 0; i < 5; ++i) asked.add(conversation_of("bbbbbb", i));
    asked.write(
        "UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)-INTERVAL IF(conversation_id LIKE 'a%',2,1) "
        "SECOND");
    expect(asked.reconciler.sweep_once());
    constexpr int room = 4;  // of eight threads
    std::vector<std::jthread> held;
    for (int i = 0; i < room; ++i) {
        auto task = asked.reconciler.begin();
        BOOST_REQUIRE(task.has_value());
        held.emplace_back([&asked, task = *task] { expect(asked.reconciler.work_at(task, {})); });
        held_reads.wait_for(i + 1);
    }
    // One more thread comes through all that is left.
    while (const auto task = asked.reconciler.begin()) expect(asked.reconciler.work_at(*task, {}));
    BOOST_TEST(asked.reads == room + 5);
    BOOST_TEST(
        asked.number("SELECT COUNT(*) FROM catch_ups WHERE attempts=1 AND conversation_id LIKE 'b%'") == 5);
    held_reads.open();
    held.clear();
    while (const auto task = asked.reconciler.begin()) expect(asked.reconciler.work_at(*task, {}));
    BOOST_TEST(asked.reads == 45);
}

BOOST_AUTO_TEST_CASE(all_servers_that_did_not_answer_have_as_much_room_as_one) {
    Asked asked("silent");
    HeldReads held_reads;
    asked.read = [&](const std::string& id) -> tl::expected<ServerLog, LogReadError> {
        if (id.starts_with("51e7")) held_reads.hold();
        return tl::make_unexpected(LogReadError{Hindrance::unreachable, "no answer"});
    };
    for (int i = 10; i < 50; ++i) asked.add(conversation_of("51e7" + std::to_string(i), 0));
    asked.write(
        "UPDATE catch_ups SET hindrance='unreachable', next_try_at=UTC_TIMESTAMP(6)-INTERVAL 2 SECOND");
    asked.add(conversation_of("bbbbbb", 0));
    asked.write(
        "UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)-INTERVAL 1 SECOND WHERE hindrance IS NULL");
    expect(asked.reconciler.sweep_once());
    std::vector<std::jthread> held;
    for (int i = 1; i <= 4; ++i) {
        held.emplace_back([&asked, task = asked.reconciler.begin().value()] {
            expect(asked.reconciler.work_at(task, {}));
        });
        held_reads.wait_for(i);
    }
    while (const auto task = asked.reconciler.begin()) expect(asked.reconciler.work_at(*task, {}));
    BOOST_TEST(asked.number("SELECT attempts FROM catch_ups WHERE conversation_id LIKE 'b%'") == 1);
    held_reads.open();
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_frozen_server_does_not_hide_what_is_behind_it_from_the_sweeper) {
    Asked asked("hidden");
    std::set<std::string> read;
    asked.read = [&](const std::string& id) -> tl::expected<ServerLog, LogReadError> {
        read.insert(id.substr(0, 6));
        return tl::make_unexpected(LogReadError{Hindrance::unreachable, "no answer"});
    };
    for (int i = 0; i < 450; ++i) asked.environment.ask(conversation_of("aaaaaa", i));
    asked.environment.ask(conversation_of("bbbbbb", 0));
    asked.write(
        "UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)-INTERVAL IF(conversation_id LIKE 'a%',2,1) "
        "SECOND");
    // No thread works at them, as if all waited.
    for (int step = 0; step < 3; ++step) expect(asked.reconciler.sweep_once());
    int queued = 0;
    while (asked.reconciler.begin()) ++queued;
    BOOST_TEST(queued == 451);
}

BOOST_AUTO_TEST_CASE(of_logs_that_a_server_could_not_read_one_at_a_time_is_read_again_after_longer_pauses) {
    Asked asked("unreadable");
    HeldReads held_reads;
    bool holds = false;
    asked.read = [&](const std::string& id) -> tl::expected<ServerLog, LogReadError> {
        if (holds && !id.ends_with("9")) held_reads.hold();
        return tl::make_unexpected(LogReadError{Hindrance::failed, "it answered 500"});
    };
    for (int i = 1; i <= 3; ++i) asked.add(conversation_of("aaaaaa", i));
    const auto before = asked.micros("UTC_TIMESTAMP(6)");
    asked.try_now();
    BOOST_TEST(asked.micros("(SELECT MIN(next_try_at) FROM catch_ups)") >= before + 30'000'000);
    BOOST_TEST(asked.number("SELECT COUNT(*) FROM catch_ups WHERE hindrance='failed'") == 3);

    holds = true;
    asked.reads = 0;
    asked.add(conversation_of("aaaaaa", 9));  // was never found unreadable
    asked.write("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)");
    expect(asked.reconciler.sweep_once());
    std::optional<std::jthread> held;
    while (const auto task = asked.reconciler.begin()) {
        if (held || std::string(task->conversation_id).ends_with("9")) {
            expect(asked.reconciler.work_at(*task, {}));
            continue;
        }
        held.emplace([&asked, task = *task] { expect(asked.reconciler.work_at(task, {})); });
        held_reads.wait_for(1);
    }
    BOOST_TEST(asked.reads == 2);  // one of the three, and the new one
    held_reads.open();
    held.reset();
    while (const auto task = asked.reconciler.begin()) expect(asked.reconciler.work_at(*task, {}));
    BOOST_TEST(asked.reads == 4);
}
