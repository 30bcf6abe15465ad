// A callback that comes in the middle of something: at each point of a batch's transaction and of the
// timers', by plain SQL or by our own registration, and the other way round. It is never lost and never
// reported twice.
#define BOOST_TEST_MODULE registration
#include <future>

#include <boost/test/unit_test.hpp>

#include "tests/integration/racing_transactions.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

/// Whether a transaction that began at a point of another one was done before that one went on.
enum class Beside { done, waited };

/// Runs `transaction` over a store that lets `other` act when it comes to `at` for the first time. If it
/// waits for a lock by then, it goes on when the transaction has ended.
Beside run_beside(OwnedPartition& partition, const std::string& at,
                  const std::function<void(Store&)>& transaction, const std::function<void()>& other) {
    std::future<void> acting;
    Beside beside = Beside::done;
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        if (point != at || acting.valid()) return;
        acting = std::async(std::launch::async, other);
        eventually("the other is done, or waits for a lock", [&] {
            if (acting.wait_for(5ms) == std::future_status::ready) return true;
            beside = Beside::waited;
            return partition.waiting() > 0;
        });
        if (acting.wait_for(0ms) == std::future_status::ready) beside = Beside::done;
    });
    transaction(store);
    BOOST_REQUIRE_MESSAGE(acting.valid(), "no such point: " << at);
    acting.get();
    return beside;
}

/// A way in which a callback comes.
struct Newcomer {
    std::string name;
    std::function<std::int64_t(OwnedPartition&, const std::string& conversation)> come;
    bool is_adopted = true;   ///< when it has come
    bool every_turn = false;  ///< else the first one
};

const std::vector<Newcomer> newcomers{
    {"a row by plain SQL",
     [](OwnedPartition& partition, const std::string& conversation) {
         return partition.insert_row(conversation);
     },
     false},
    {"a row by plain SQL and its adoption",
     [](OwnedPartition& partition, const std::string& conversation) {
         const auto id = partition.insert_row(conversation);
         partition.adopt(partition.store());
         return id;
     }},
    {"our own registration",
     [](OwnedPartition& partition, const std::string& conversation) {
         return partition.add(partition.store(), conversation);
     },
     true, true},
};

/// Ends the turn u2 and compares what is owed to which callback.
void check(OwnedPartition& partition, RacedConversation& raced, bool is_open, std::int64_t callback,
           const Turns& owed) {
    run_the_next_turn(partition, raced, is_open);
    BOOST_TEST(partition.turns_of(callback) == owed, boost::test_tools::per_element());
    const Turns both{"u1", "u2"};
    BOOST_TEST(partition.turns_of(raced.witness) == both, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_callback_that_comes_at_any_point_of_what_ends_a_turn_reports_it_once) {
    OwnedPartition partition(server_of_this_program(), "comes");
    for (const EndingTransaction& ending : EndingTransaction::all()) {
        RacedConversation probe = next_conversation(partition, ending);
        const auto points = points_of(ending.name, partition, [&](Store& store) {
            expect(ending.run(partition, store, probe.conversation));
        });
        for (const std::string& point : points)
            for (const Newcomer& newcomer : newcomers) {
                BOOST_TEST_CONTEXT(newcomer.name << ", in " << ending.name << ", " << point) {
                    RacedConversation raced = next_conversation(partition, ending);
                    std::int64_t callback = 0;
                    const auto beside = run_beside(
                        partition, point,
                        [&](Store& store) { expect(ending.run(partition, store, raced.conversation)); },
                        [&] { callback = newcomer.come(partition, raced.conversation.id()); });
                    // A plain INSERT never waits for our transactions.
                    if (!newcomer.is_adopted) BOOST_TEST((beside == Beside::done));
                    partition.adopt(partition.store());

                    const bool was_first =
                        newcomer.is_adopted && beside == Beside::done && point != point::committed;
                    Turns owed;
                    if (was_first || !ending.goes_on) owed.emplace_back("u1");
                    if (owed.empty() || newcomer.every_turn) owed.emplace_back("u2");
                    check(partition, raced, ending.goes_on, callback, owed);
                }
            }
    }
}

BOOST_AUTO_TEST_CASE(a_turn_that_ends_at_any_point_of_a_callbacks_coming_is_reported_once) {
    OwnedPartition partition(server_of_this_program(), "ends");
    for (const CallbackTransaction& coming : CallbackTransaction::all())
        for (const EndingTransaction& ending :
             {EndingTransaction::by_a_batch(), EndingTransaction::by_timers()}) {
            const auto prepared = [&](RacedConversation& raced) {
                return coming.prepare(partition, raced.conversation.id());
            };
            const auto run = [&](Store& store, const RacedConversation& raced, std::int64_t row) {
                return coming.run(partition, store, raced.conversation.id(), row);
            };
            RacedConversation probe = next_conversation(partition, ending);
            const auto first = prepared(probe);
            const auto points = points_of(coming.name + " beside " + ending.name, partition,
                                          [&](Store& store) { run(store, probe, first); });
            for (const std::string& point : points) {
                BOOST_TEST_CONTEXT(ending.name << ", in " << coming.name << ", " << point) {
                    RacedConversation raced = next_conversation(partition, ending);
                    std::int64_t callback = prepared(raced);
                    run_beside(
                        partition, point, [&](Store& store) { callback = run(store, raced, callback); },
                        [&] { expect(ending.run(partition, partition.store(), raced.conversation)); });
                    check(partition, raced, false, callback,
                          coming.every_turn ? Turns{"u1", "u2"} : Turns{"u1"});
                }
            }
        }
}

BOOST_AUTO_TEST_CASE(a_mere_sign_of_life_is_written_only_where_somebody_watches) {
    OwnedPartition partition(server_of_this_program(), "signs_of_life");
    V1Conversation unknown("unknown");
    V1Conversation watched("watched");
    V1Conversation steered("steered");
    partition.add(partition.store(), watched.id());
    expect(partition.apply(partition.store(), {unknown.stats(), watched.stats(), steered.user("u1")}));
    const auto report = expect(partition.apply(
        partition.store(), {unknown.stats(), watched.stats(), steered.stats(), steered.stats()}));

    const auto rows = [&](const std::string& condition) {
        return partition.number("SELECT COUNT(*) FROM conversations WHERE " + condition);
    };
    BOOST_TEST(rows("conversation_id='unknown'") == 0);
    // One more than its batches: the registration wrote it too.
    BOOST_TEST(rows("conversation_id='watched' AND generation=2") == 1);
    BOOST_TEST(rows("conversation_id='steered' AND generation=1") == 1);
    BOOST_TEST((report.outcomes == decltype(report.outcomes){{{"v1", "applied"}, 4}}));
}

BOOST_AUTO_TEST_CASE(two_that_adopt_the_same_row_at_once_report_its_last_end_once) {
    OwnedPartition partition(server_of_this_program(), "adopt_twice");
    for (const CallbackTransaction& coming :
         {CallbackTransaction::adoption(), CallbackTransaction::waking()}) {
        const auto prepare = [&](RacedConversation& raced) {
            expect(EndingTransaction::by_a_batch().run(partition, partition.store(), raced.conversation));
            return coming.prepare(partition, raced.conversation.id());
        };
        RacedConversation probe = next_conversation(partition, EndingTransaction::by_a_batch());
        const auto first = prepare(probe);
        const auto points = points_of(coming.name + " that reports the last end", partition,
                                      [&](Store& store) { coming.run(partition, store, "", first); });
        for (const std::string& point : points) {
            BOOST_TEST_CONTEXT(coming.name << " twice, " << point) {
                RacedConversation raced = next_conversation(partition, EndingTransaction::by_a_batch());
                const auto row = prepare(raced);
                run_beside(
                    partition, point, [&](Store& store) { coming.run(partition, store, "", row); },
                    [&] { coming.run(partition, partition.store(), "", row); });
                check(partition, raced, false, row, {"u1"});
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(two_equal_registrations_at_once_make_one_callback_at_every_point) {
    OwnedPartition partition(server_of_this_program(), "equal_twice");
    int count = 0;
    const auto add = [&](Store& store, const std::string& conversation) {
        return partition.add(store, conversation, "github", R"({"repo": "o/equal", "number": 1})");
    };
    const auto points = points_of("a registration that has an equal", partition,
                                  [&](Store& store) { add(store, "equal-probe"); });
    for (const std::string& point : points) {
        BOOST_TEST_CONTEXT(point) {
            const std::string conversation = "equal-" + std::to_string(++count);
            std::int64_t first = 0;
            std::int64_t second = 0;
            run_beside(
                partition, point, [&](Store& store) { first = add(store, conversation); },
                [&] { second = add(partition.store(), conversation); });
            BOOST_TEST(first == second);
            BOOST_TEST(partition.number("SELECT COUNT(*) FROM callback_progress WHERE conversation_id='" +
                                        conversation + "'") == 1);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_equal_registration_wakes_a_callback_that_sleeps) {
    OwnedPartition partition(server_of_this_program(), "equal_sleeps");
    const auto row = partition.insert_row("asleep", "UTC_TIMESTAMP(6) - INTERVAL 10 DAY");
    const auto place = partition.query("SELECT processor_json FROM conversation_callbacks").at(0).at(0);
    partition.adopt(partition.store());
    const auto phase = [&] {
        return partition.query("SELECT phase FROM callback_progress").at(0).at(0).value_or("");
    };
    BOOST_TEST(phase() == "dormant");
    RegistrationRequest request;
    request.conversation_id = "asleep";
    request.processor_type = "github";
    request.processor_json = place.value_or("");
    BOOST_TEST(partition.add(partition.store(), request) == row);
    BOOST_TEST(phase() == "watching");
}
