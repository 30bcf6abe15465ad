// What undoes a transaction in its middle: a killed session, a deadlock, a lock that is not released. The
// whole of it runs again, nothing of the first time is left, and it is counted.
#define BOOST_TEST_MODULE transactions
#include <future>

#include <boost/test/unit_test.hpp>

#include "tests/integration/racing_transactions.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

const std::string locked = "the conversations are locked";

/// All that a batch or the timers write, in numbers.
std::vector<std::int64_t> stored(const OwnedPartition& partition) {
    std::vector<std::int64_t> numbers;
    for (const char* what :
         {"MAX(next_offset) FROM partition_progress", "MAX(sequence) FROM partition_progress",
          "SUM(generation) FROM conversations", "SUM(generation) FROM callback_progress",
          "COUNT(*) FROM summaries", "COUNT(*) FROM deliveries", "COUNT(*) FROM dead_letters"})
        numbers.push_back(partition.number("SELECT " + std::string(what)));
    return numbers;
}

/// A transaction under way, told at each point by a PointStore: how often it has begun, and that it began
/// each time with what there was before the first.
class Watch {
  public:
    explicit Watch(const OwnedPartition& partition) : partition_(partition), before_(stored(partition)) {}

    void see(const std::string& point) {
        if (point != point::begun) return;
        ++begun_;
        BOOST_TEST(stored(partition_) == before_, boost::test_tools::per_element());
    }
    int begun() const { return begun_; }

  private:
    const OwnedPartition& partition_;
    const std::vector<std::int64_t> before_;
    int begun_ = 0;
};

/// A session that takes our locks in the wrong order: first the callback, then the conversation. It has
/// written so much that in a deadlock the server always undoes the other one.
class Adversary {
  public:
    Adversary(const OwnedPartition& partition, const RacedConversation& raced)
        : partition_(partition), raced_(raced), session_(partition.open_session()) {
        constexpr std::size_t rows = 500;
        expect(session_->run("CREATE TABLE IF NOT EXISTS ballast (n BIGINT) ENGINE=InnoDB"));
        expect(session_->run("BEGIN"));
        expect(session_->execute("INSERT INTO ballast VALUES " + placeholders(1, rows),
                                 std::vector<SqlValue>(rows, std::int64_t{1})));
        expect(session_->query("SELECT 1 FROM callback_progress WHERE callback_id=? FOR UPDATE",
                               {raced.witness}));
    }

    /// Asks for the conversation, which another session has locked; rolls back once it has got it.
    void want_conversation() {
        wanting_ = std::async(std::launch::async, [this] {
            expect(session_->query("SELECT 1 FROM conversations WHERE conversation_id=? FOR UPDATE",
                                   {raced_.conversation.id()}));
            roll_back();
        });
        eventually("the adversary waits", [&] { return partition_.waiting() > 0; });
    }
    void join() { wanting_.get(); }
    void roll_back() { expect(session_->run("ROLLBACK")); }

  private:
    const OwnedPartition& partition_;
    const RacedConversation& raced_;
    std::unique_ptr<MysqlSession> session_;
    std::future<void> wanting_;
};

/// Ends the turn with an adversary beside, in the first `times` tries.
Result<void> run_into_deadlocks(OwnedPartition& partition, const EndingTransaction& ending,
                                RacedConversation& raced, int times) {
    Watch watch(partition);
    std::optional<Adversary> adversary;
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        if (point == point::begun && adversary) adversary->join();
        watch.see(point);
        if (watch.begun() > times) return;
        if (point == point::begun) adversary.emplace(partition, raced);
        if (point == locked) adversary->want_conversation();
    });
    auto result = ending.run(partition, store, raced.conversation);
    if (watch.begun() == times) adversary->join();
    return result;
}

void check_both_turns(OwnedPartition& partition, RacedConversation& raced) {
    run_the_next_turn(partition, raced, false);
    const Turns both{"u1", "u2"};
    BOOST_TEST(partition.turns_of(raced.witness) == both, boost::test_tools::per_element());
}

const std::vector<EndingTransaction> endings{EndingTransaction::by_a_batch(), EndingTransaction::by_timers()};

}  // namespace

BOOST_AUTO_TEST_CASE(a_session_that_is_killed_at_any_point_leaves_nothing_and_the_work_is_done_again) {
    OwnedPartition partition(server_of_this_program(), "killed");
    int kills = 0;
    for (const EndingTransaction& ending : endings) {
        RacedConversation probe = next_conversation(partition, ending);
        const auto points = points_of(ending.name, partition, [&](Store& store) {
            expect(ending.run(partition, store, probe.conversation));
        });
        for (const std::string& at : points) {
            if (at == point::before_begin || at == point::committed) continue;
            BOOST_TEST_CONTEXT(ending.name << ", " << at) {
                RacedConversation raced = next_conversation(partition, ending);
                Watch watch(partition);
                PointStore store(partition.store(), [&](const std::string& point, std::int64_t session) {
                    watch.see(point);
                    if (point != at || watch.begun() > 1) return;
                    server_of_this_program().query("KILL " + std::to_string(session));
                });
                expect(ending.run(partition, store, raced.conversation));
                BOOST_TEST(watch.begun() == 2);
                BOOST_TEST(partition.undone("lost_connection") == ++kills);
                check_both_turns(partition, raced);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_deadlock_undoes_the_whole_transaction_and_it_runs_again) {
    OwnedPartition partition(server_of_this_program(), "deadlocked");
    int deadlocks = 0;
    for (const EndingTransaction& ending : endings)
        for (const int times : {1, 4}) {
            BOOST_TEST_CONTEXT(ending.name << ", " << times << " times") {
                RacedConversation raced = next_conversation(partition, ending);
                expect(run_into_deadlocks(partition, ending, raced, times));
                deadlocks += times;
                BOOST_TEST(partition.undone("deadlock") == deadlocks);
                check_both_turns(partition, raced);
            }
        }
}

BOOST_AUTO_TEST_CASE(after_five_deadlocks_in_a_row_it_is_given_up_with_nothing_stored) {
    OwnedPartition partition(server_of_this_program(), "given_up");
    for (const EndingTransaction& ending : endings) {
        BOOST_TEST_CONTEXT(ending.name) {
            RacedConversation raced = next_conversation(partition, ending);
            const auto before = stored(partition);
            const auto result = run_into_deadlocks(partition, ending, raced, 5);
            BOOST_REQUIRE(!result);
            BOOST_TEST((result.error().remedy == Remedy::retry));
            BOOST_TEST(stored(partition) == before, boost::test_tools::per_element());
            expect(ending.run(partition, partition.store(), raced.conversation));
            check_both_turns(partition, raced);
        }
    }
    BOOST_TEST(partition.undone("deadlock") == 5 * static_cast<int>(endings.size()));
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_not_let_go_in_time_undoes_the_whole_transaction) {
    OwnedPartition partition(server_of_this_program(), "waited");
    const EndingTransaction& ending = endings.at(0);
    RacedConversation raced = next_conversation(partition, ending);
    Watch watch(partition);
    std::optional<Adversary> holder(std::in_place, partition, raced);
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        watch.see(point);
        if (watch.begun() == 2 && point == point::begun) holder->roll_back();
    });
    expect(ending.run(partition, store, raced.conversation));
    BOOST_TEST(watch.begun() == 2);
    BOOST_TEST(partition.undone("lock_wait") == 1);
    check_both_turns(partition, raced);
}
