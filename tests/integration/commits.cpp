// A COMMIT whose answer is lost is decided by the database alone, and rightly: what was written is not done
// again, what was not written is.
#define BOOST_TEST_MODULE commits
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <string>

#include <boost/test/unit_test.hpp>

#include "tests/integration/unread_log.h"
#include "tests/support/eventually.h"
#include "tests/support/proxied_database.h"
#include "worker/consume/claim_partition.h"
#include "worker/mysql/migrate.h"
#include "worker/mysql/mysql_store.h"
#include "worker/store/fence.h"
#include "worker/store/partition_rows.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

/// What became of one transaction.
struct Told {
    Result<void> result;
    int runs = 0;            ///< of the work: one more than the times it was decided that nothing was written
    int ambiguous = 0;       ///< COMMITs that were not answered with success
    std::int64_t added = 0;  ///< to the row, when all was over
};

/// A partition's row and the product's store through a proxy. The work is the batch's: lock the row, count
/// its `sequence` on; but it counts on from what is stored, so that work done twice shows.
class Ledger {
  public:
    Ledger() {
        const auto session = database.session();
        if (!migrate(*session)) throw std::runtime_error("the tables cannot be created");
        database.query(
            "INSERT INTO partition_progress (consumer_group, topic, partition_id, cluster_id, next_offset, "
            "owner, "
            "connection_id, generation) VALUES ('g', 't', 0, 'c', 0, 'o', 0, 1)");
    }

    std::int64_t sequence() const { return database.number("SELECT sequence FROM partition_progress"); }

    /// One transaction that adds one; `at_the_end` is called by the work, right before COMMIT.
    Told add_one(const std::function<void()>& at_the_end = [] {}) {
        Told told;
        const std::int64_t before = sequence();
        const int ambiguous_before = ambiguous;
        const auto work = [&](Transaction& transaction) -> Result<void> {
            ++told.runs;
            TRY(auto row, transaction.partitions().lock(key));
            ++row->sequence;
            TRY_VOID(transaction.partitions().update(key, *row));
            at_the_end();
            return {};
        };
        const auto is_done = [&](Transaction& transaction) -> Result<bool> {
            TRY(const auto row, transaction.partitions().lock(key));
            return row->sequence == before + 1;
        };
        told.result = store.transact(work, is_done);
        told.ambiguous = ambiguous - ambiguous_before;
        told.added = sequence() - before;
        return told;
    }

    const PartitionKey key{"g", "t", 0};
    ProxiedDatabase database;
    FaultProxy& proxy = database.proxy();
    std::atomic<int> ambiguous = 0;
    MysqlStore store{database.settings(), {[](auto) {}, [this] { ++ambiguous; }}};
};

/// Counts decisions about ambiguous commits.
struct Tally {
    int ambiguous = 0;
    int written = 0;
    int not_written = 0;
    int wrong = 0;

    /// After one transaction that met one fault at COMMIT.
    void add(const Told& told) {
        ambiguous += told.ambiguous;
        ++(told.runs == 1 ? written : not_written);
        if (!told.result || told.added != 1) ++wrong;
    }

    void print(const std::string& what) const {
        std::cout << (ProxiedDatabase::server().kind() == DatabaseKind::mysql ? "MySQL" : "MariaDB") << ", "
                  << what << ": " << ambiguous << " ambiguous commits, " << written << " written, "
                  << not_written << " not written, " << wrong << " wrong decisions" << std::endl;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(what_is_lost_before_commit_is_done_again_and_nothing_is_ambiguous, Ledger) {
    for (const ProxyAction action : {ProxyAction::kill_session, ProxyAction::lose_request,
                                     ProxyAction::lose_answer, ProxyAction::cut_behind}) {
        for (const Request at : {Request::begin, Request::statement}) {
            for (int i = 0; i < 5; ++i) {
                proxy.plan(
                    {.action = action, .at = at, .containing = at == Request::begin ? "BEGIN" : "partition"});
                const Told told = add_one();
                BOOST_TEST(told.result.has_value());
                BOOST_TEST(told.runs == (at == Request::begin ? 1 : 2));
                BOOST_TEST(told.ambiguous == 0);
                BOOST_TEST(told.added == 1);
            }
        }
    }
    BOOST_TEST(proxy.counts().killed_sessions == 10U);
    BOOST_TEST(proxy.counts().cut == 30U);
}

BOOST_FIXTURE_TEST_CASE(of_200_ambiguous_commits_every_one_is_decided_rightly, Ledger) {
    struct Part {
        ProxyAction action;
        int times;
        std::optional<int>
            runs;  ///< what must come out; nothing where the server may or may not have done it
    };
    constexpr int often = 70;
    constexpr int seldom = 35;
    const std::array parts{
        Part{ProxyAction::lose_request, often, 2}, Part{ProxyAction::lose_answer, often, 1},
        Part{ProxyAction::kill_session, seldom, 2}, Part{ProxyAction::cut_behind, seldom, std::nullopt}};
    Tally tally;
    for (int i = 0; i < often; ++i) {
        for (const auto& [action, times, runs] : parts) {
            if (i >= times) continue;
            proxy.plan({.action = action, .at = Request::commit, .reset = i % 2 == 1});
            const Told told = add_one();
            BOOST_TEST(told.ambiguous == 1);
            if (runs) BOOST_TEST(told.runs == *runs);
            tally.add(told);
        }
    }
    tally.print("faults at COMMIT");
    BOOST_TEST(tally.ambiguous >= 200);
    BOOST_TEST(tally.written >= 60);
    BOOST_TEST(tally.not_written >= 60);
    BOOST_TEST(tally.wrong == 0);
    const auto counts = proxy.counts();
    BOOST_TEST(counts.lost_requests + counts.lost_answers + counts.killed_sessions + counts.cut_behind ==
               210U);
}

BOOST_FIXTURE_TEST_CASE(a_commit_that_comes_after_the_decision_finds_its_session_ended, Ledger) {
    Tally tally;
    for (std::size_t i = 1; i <= 20; ++i) {
        proxy.plan({.action = ProxyAction::deliver_late, .at = Request::commit});
        tally.add(add_one());
        proxy.release();
        eventually("it was too late", [&] { return proxy.counts().late_lost == i; });
        BOOST_TEST(sequence() == static_cast<std::int64_t>(i));
    }
    tally.print("COMMIT after the decision");
    BOOST_TEST(tally.not_written == 20);
    BOOST_TEST(tally.wrong == 0);
}

BOOST_FIXTURE_TEST_CASE(a_commit_that_races_with_the_end_of_its_session_is_decided_rightly, Ledger) {
    Tally tally;
    for (int i = 0; i < 30; ++i) {
        proxy.plan({.action = ProxyAction::deliver_late, .at = Request::commit});
        proxy.plan({.action = ProxyAction::hold, .at = Request::statement, .containing = "KILL "});
        auto told = std::async(std::launch::async, [&] { return add_one(); });
        eventually("COMMIT and KILL wait", [&] { return proxy.counts().held_now == 2; });
        proxy.release();
        tally.add(told.get());
    }
    tally.print("COMMIT racing with KILL");
    BOOST_TEST(tally.ambiguous == 30);
    BOOST_TEST(tally.wrong == 0);
}

BOOST_FIXTURE_TEST_CASE(a_commit_under_way_in_the_server_is_waited_for_or_ended, Ledger) {
    // No session can commit while the administrator holds the read lock: COMMIT stays under way in the
    // server.
    const auto administrator = database.administrator();
    Tally tally;
    for (int i = 0; i < 10; ++i) {
        const bool commits_first = i % 2 == 0;
        std::int64_t session = 0;
        bool locked = false;
        proxy.plan({.action = ProxyAction::cut_behind, .at = Request::commit});
        if (commits_first)
            proxy.plan({.action = ProxyAction::hold, .at = Request::statement, .containing = "KILL "});
        auto told = std::async(std::launch::async, [&] {
            return add_one([&] {
                if (locked) return;
                session = database.number(
                    "SELECT MAX(id) FROM information_schema.processlist WHERE user='epilogue'");
                locked = administrator->run("FLUSH TABLES WITH READ LOCK").has_value();
            });
        });
        if (commits_first)
            eventually("KILL waits", [&] { return proxy.counts().held_now == 1; });
        else
            eventually("the session has been ended",
                       [&] { return locked && !database.has_session(session); });
        BOOST_TEST(administrator->run("UNLOCK TABLES").has_value());
        if (commits_first) {
            eventually("COMMIT is through", [&] { return sequence() == i + 1; });
            proxy.release();
        }
        const Told all = told.get();
        BOOST_TEST(all.runs == (commits_first ? 1 : 2));
        tally.add(all);
    }
    tally.print("COMMIT under way in the server");
    BOOST_TEST(tally.ambiguous == 10);
    BOOST_TEST(tally.wrong == 0);
}

BOOST_FIXTURE_TEST_CASE(the_question_is_asked_again_when_its_own_connection_is_lost, Ledger) {
    for (const ProxyAction action : {ProxyAction::lose_request, ProxyAction::lose_answer}) {
        proxy.plan({.action = action, .at = Request::commit});
        proxy.plan({.action = ProxyAction::lose_request, .at = Request::statement, .containing = "KILL "});
        proxy.plan({.action = ProxyAction::lose_answer, .at = Request::statement, .containing = "KILL "});
        const Told told =
            add_one([&] {  // the work's own locking read is over: the next one is the question's
                proxy.plan({.action = ProxyAction::lose_answer,
                            .at = Request::statement,
                            .containing = "FOR UPDATE"});
            });
        BOOST_TEST(told.result.has_value());
        BOOST_TEST(told.ambiguous == 1);
        BOOST_TEST(told.added == 1);
        proxy.forget_plans();
    }
}

BOOST_FIXTURE_TEST_CASE(sessions_that_died_in_the_pool_do_not_stand_in_the_way_of_the_question, Ledger) {
    const auto nothing = [](Transaction&) -> Result<void> { return {}; };
    // Two sessions at once: afterwards two are idle in the pool.
    BOOST_TEST(store.read_only([&](Transaction&) { return store.read_only(nothing); }).has_value());
    proxy.plan({.action = ProxyAction::hold, .at = Request::commit});
    auto told = std::async(std::launch::async, [&] { return add_one(); });
    eventually("COMMIT waits", [&] { return proxy.counts().held_now == 1; });
    BOOST_TEST(proxy.cut_all() >= 2U);
    const Told all = told.get();
    BOOST_TEST(all.result.has_value());
    BOOST_TEST(all.added == 1);
}

BOOST_FIXTURE_TEST_CASE(what_nobody_can_say_is_an_error_and_not_a_decision, Ledger) {
    proxy.plan({.action = ProxyAction::lose_answer, .at = Request::commit});
    const auto refusing = [&] { proxy.set({.refuses = true}); };
    const std::int64_t before = sequence();
    const Told told = add_one(refusing);
    BOOST_REQUIRE(!told.result);
    BOOST_TEST(told.result.error().text.starts_with("whether the last COMMIT was done is not known yet"));
    BOOST_TEST((told.result.error().remedy == Remedy::retry));
    BOOST_TEST(told.runs == 1);
    BOOST_TEST(sequence() == before + 1);
}

BOOST_FIXTURE_TEST_CASE(a_predecessor_that_stopped_inside_its_transaction_is_ended_by_the_next_claim,
                        Ledger) {
    const auto claim_by = [&](MysqlStore& by, const std::string& owner) {
        UnreadLog log;
        return claim_partition(by, log, key, owner, [](const PositionCheck&) { return true; });
    };
    const auto first = claim_by(store, "first");
    BOOST_REQUIRE(first.has_value());
    std::promise<void> holds_the_row;
    std::promise<void> goes_on;
    auto zombie = std::async(std::launch::async, [&] {
        const auto work = [&](Transaction& transaction) -> Result<void> {
            TRY(auto row, transaction.partitions().lock(key));
            if (row->generation != first->claim.generation) return fenced("the partition");
            holds_the_row.set_value();
            goes_on.get_future().wait();
            row->next_offset.value = 1000;
            return transaction.partitions().update(key, *row);
        };
        return store.transact(work, [](Transaction&) -> Result<bool> { return false; });
    });
    holds_the_row.get_future().wait();
    MysqlStore other{database.settings(), {}};
    const auto second = claim_by(other, "second");
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST((second->claim.generation > first->claim.generation));
    goes_on.set_value();
    const auto late = zombie.get();
    BOOST_REQUIRE(!late);
    BOOST_TEST(is_fenced(late.error()));
    BOOST_TEST(database.number("SELECT next_offset FROM partition_progress") == 0);
}
