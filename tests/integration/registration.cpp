// A callback that comes in the middle of something: at each point of a batch's transaction and of the
// timers', by plain SQL or by our own registration, and the other way round. It is never lost and never
// reported twice.
#define BOOST_TEST_MODULE registration
#include <future>
#include <iostream>

#include <boost/test/unit_test.hpp>

#include "tests/integration/harness/eventually.h"
#include "tests/integration/owned_partition.h"
#include "tests/integration/point_store.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

using Turns = std::vector<std::string>;

const MariaDb& server_of_this_file() {
    static const MariaDb one;
    return one;
}

/// Whether somebody who began at a point of another's transaction was done before that went on.
enum class Beside { done, waited };

/// Runs `transaction` over a store that lets `other` act when it comes to `at` for the first time. Whoever
/// waits for a lock by then goes on when the transaction has ended.
Beside run_beside(OwnedPartition& partition, const std::string& at,
                  const std::function<void(Store&)>& transaction, const std::function<void()>& other) {
    std::future<void> acting;
    Beside beside = Beside::done;
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        if (point != at || acting.valid()) return;
        acting = std::async(std::launch::async, other);
        eventually("the other is done, or waits for a lock", 30s, [&] {
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

/// The points of one transaction, in the order in which they are first come to.
std::vector<std::string> points_of(OwnedPartition& partition,
                                   const std::function<void(Store&)>& transaction) {
    std::vector<std::string> points;
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
    });
    transaction(store);
    return points;
}

/// A transaction that ends the turn u1 of a conversation.
struct Ending {
    std::string name;
    std::function<void(OwnedPartition&, Talk&)> prepare;
    std::function<void(OwnedPartition&, Store&, Talk&)> run;
    bool goes_on = false;  ///< u2 is opened in the same transaction
};

void opens(OwnedPartition& partition, Talk& talk) {
    expect(partition.apply(partition.store(), {talk.user("u1")}));
}

const Ending by_a_batch{
    "a batch that ends the turn", opens, [](OwnedPartition& partition, Store& store, Talk& talk) {
        expect(partition.apply(store, {talk.status("stuck"), {.key = "k", .value = "poison"}}));
    }};
const Ending by_a_longer_batch{"a batch that ends the turn and opens another", opens,
                               [](OwnedPartition& partition, Store& store, Talk& talk) {
                                   expect(partition.apply(store, {talk.status("stuck"), talk.user("u2")}));
                               },
                               true};
const Ending by_timers{
    "timers that end the turn",
    [](OwnedPartition& partition, Talk& talk) {
        expect(partition.apply(partition.store(), {talk.user("u1"), talk.status("finished")}));
    },
    [](OwnedPartition& partition, Store& store, Talk&) { expect(partition.tick(store)); }};

/// Somebody who brings a callback.
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

/// Somebody's way to a callback, as a transaction of ours.
struct Coming {
    std::string name;
    std::function<std::int64_t(OwnedPartition&, const std::string& conversation)> prepare;
    /// Takes what `prepare` has given; returns the callback.
    std::function<std::int64_t(OwnedPartition&, Store&, const std::string& conversation, std::int64_t)> run;
    bool every_turn = false;
};

const std::vector<Coming> comings{
    {"an adoption",
     [](OwnedPartition& partition, const std::string& conversation) {
         return partition.insert_row(conversation);
     },
     [](OwnedPartition& partition, Store& store, const std::string&, std::int64_t row) {
         partition.adopt(store);
         return row;
     }},
    {"a waking",
     [](OwnedPartition& partition, const std::string& conversation) {
         const auto row = partition.insert_row(conversation, "'2020-01-01'");
         partition.adopt(partition.store());
         return row;
     },
     [](OwnedPartition& partition, Store& store, const std::string&, std::int64_t row) {
         partition.wake(store, row);
         return row;
     }},
    {"a registration", [](OwnedPartition&, const std::string&) { return std::int64_t{0}; },
     [](OwnedPartition& partition, Store& store, const std::string& conversation, std::int64_t) {
         return partition.add(store, conversation);
     },
     true},
};

/// A conversation whose turn u1 is open, and a callback that was there from the beginning.
struct Scene {
    Talk talk;
    std::int64_t witness;
};

Scene next_scene(OwnedPartition& partition, const Ending& ending) {
    static int scenes = 0;
    Talk talk("scene-" + std::to_string(scenes++));
    const auto witness = partition.add(partition.store(), talk.conversation());
    ending.prepare(partition, talk);
    return {std::move(talk), witness};
}

/// Tells the turn u2 and compares what is owed to whom.
void check(OwnedPartition& partition, Scene& scene, bool is_open, std::int64_t callback, const Turns& owed) {
    if (!is_open) expect(partition.apply(partition.store(), {scene.talk.user("u2")}));
    expect(partition.apply(partition.store(), {scene.talk.status("stuck")}));
    BOOST_TEST(partition.turns_of(callback) == owed, boost::test_tools::per_element());
    const Turns both{"u1", "u2"};
    BOOST_TEST(partition.turns_of(scene.witness) == both, boost::test_tools::per_element());
}

void print(const std::string& name, const std::vector<std::string>& points) {
    std::cout << name << ":\n";
    for (const std::string& point : points) std::cout << "  " << point << "\n";
    std::cout << std::flush;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_callback_that_comes_at_any_point_of_what_ends_a_turn_reports_it_once) {
    OwnedPartition partition(server_of_this_file(), "comes");
    for (const Ending& ending : {by_a_batch, by_a_longer_batch, by_timers}) {
        Scene rehearsal = next_scene(partition, ending);
        const auto points =
            points_of(partition, [&](Store& store) { ending.run(partition, store, rehearsal.talk); });
        print(ending.name, points);
        for (const std::string& point : points)
            for (const Newcomer& newcomer : newcomers) {
                BOOST_TEST_CONTEXT(newcomer.name << ", in " << ending.name << ", " << point) {
                    Scene scene = next_scene(partition, ending);
                    std::int64_t callback = 0;
                    const auto beside = run_beside(
                        partition, point, [&](Store& store) { ending.run(partition, store, scene.talk); },
                        [&] { callback = newcomer.come(partition, scene.talk.conversation()); });
                    // Whoever only writes a row of theirs never waits for us.
                    if (!newcomer.is_adopted) BOOST_TEST((beside == Beside::done));
                    partition.adopt(partition.store());

                    const bool was_first =
                        newcomer.is_adopted && beside == Beside::done && point != point::committed;
                    Turns owed;
                    if (was_first || !ending.goes_on) owed.emplace_back("u1");
                    if (owed.empty() || newcomer.every_turn) owed.emplace_back("u2");
                    check(partition, scene, ending.goes_on, callback, owed);
                }
            }
    }
}

BOOST_AUTO_TEST_CASE(a_turn_that_ends_at_any_point_of_a_callbacks_coming_is_reported_once) {
    OwnedPartition partition(server_of_this_file(), "ends");
    for (const Coming& coming : comings)
        for (const Ending& ending : {by_a_batch, by_timers}) {
            const auto prepared = [&](Scene& scene) {
                return coming.prepare(partition, scene.talk.conversation());
            };
            const auto run = [&](Store& store, const Scene& scene, std::int64_t row) {
                return coming.run(partition, store, scene.talk.conversation(), row);
            };
            Scene rehearsal = next_scene(partition, ending);
            const auto first = prepared(rehearsal);
            const auto points = points_of(partition, [&](Store& store) { run(store, rehearsal, first); });
            print(coming.name + " beside " + ending.name, points);
            for (const std::string& point : points) {
                BOOST_TEST_CONTEXT(ending.name << ", in " << coming.name << ", " << point) {
                    Scene scene = next_scene(partition, ending);
                    std::int64_t callback = prepared(scene);
                    run_beside(
                        partition, point, [&](Store& store) { callback = run(store, scene, callback); },
                        [&] { ending.run(partition, partition.store(), scene.talk); });
                    check(partition, scene, false, callback,
                          coming.every_turn ? Turns{"u1", "u2"} : Turns{"u1"});
                }
            }
        }
}

BOOST_AUTO_TEST_CASE(two_that_adopt_the_same_row_at_once_report_its_last_end_once) {
    OwnedPartition partition(server_of_this_file(), "adopt_twice");
    for (const bool woken : {false, true}) {
        const Coming& coming = comings.at(woken ? 1 : 0);
        const auto prepare = [&](Scene& scene) {
            by_a_batch.run(partition, partition.store(), scene.talk);
            return coming.prepare(partition, scene.talk.conversation());
        };
        Scene rehearsal = next_scene(partition, by_a_batch);
        const auto first = prepare(rehearsal);
        const auto points =
            points_of(partition, [&](Store& store) { coming.run(partition, store, "", first); });
        print(coming.name + " that reports the last end", points);
        for (const std::string& point : points) {
            BOOST_TEST_CONTEXT(coming.name << " twice, " << point) {
                Scene scene = next_scene(partition, by_a_batch);
                const auto row = prepare(scene);
                run_beside(
                    partition, point, [&](Store& store) { coming.run(partition, store, "", row); },
                    [&] { coming.run(partition, partition.store(), "", row); });
                check(partition, scene, false, row, {"u1"});
            }
        }
    }
}
