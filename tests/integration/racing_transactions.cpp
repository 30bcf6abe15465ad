#include "tests/integration/racing_transactions.h"

#include <algorithm>
#include <iostream>

namespace epilogue::testing {
namespace {

Result<void> done(const Result<BatchReport>& report) {
    return report ? Result<void>() : Failure(report.error());
}

void open_turn(OwnedPartition& partition, Talk& talk) {
    expect(partition.apply(partition.store(), {talk.user("u1")}));
}

}  // namespace

Ending Ending::by_a_batch() {
    return {"a batch that ends the turn", open_turn, [](OwnedPartition& partition, Store& store, Talk& talk) {
                return done(partition.apply(store, {talk.status("stuck"), {.key = "k", .value = "poison"}}));
            }};
}

Ending Ending::by_a_longer_batch() {
    return {"a batch that ends the turn and opens another", open_turn,
            [](OwnedPartition& partition, Store& store, Talk& talk) {
                return done(partition.apply(store, {talk.status("stuck"), talk.user("u2")}));
            },
            true};
}

Ending Ending::by_timers() {
    return {"timers that end the turn",
            [](OwnedPartition& partition, Talk& talk) {
                expect(partition.apply(partition.store(), {talk.user("u1"), talk.status("finished")}));
            },
            [](OwnedPartition& partition, Store& store, Talk&) { return done(partition.tick(store)); }};
}

Coming Coming::adoption() {
    return {"an adoption",
            [](OwnedPartition& partition, const std::string& conversation) {
                return partition.insert_row(conversation);
            },
            [](OwnedPartition& partition, Store& store, const std::string&, std::int64_t row) {
                partition.adopt(store);
                return row;
            }};
}

Coming Coming::waking() {
    return {"a waking",
            [](OwnedPartition& partition, const std::string& conversation) {
                const auto row = partition.insert_row(conversation, "'2020-01-01'");
                partition.adopt(partition.store());
                return row;
            },
            [](OwnedPartition& partition, Store& store, const std::string&, std::int64_t row) {
                partition.wake(store, row);
                return row;
            }};
}

Coming Coming::registration() {
    return {"a registration", [](OwnedPartition&, const std::string&) { return std::int64_t{0}; },
            [](OwnedPartition& partition, Store& store, const std::string& conversation, std::int64_t) {
                return partition.add(store, conversation);
            },
            true};
}

Scene next_scene(OwnedPartition& partition, const Ending& ending) {
    static int scenes = 0;
    Talk talk("scene-" + std::to_string(scenes++));
    const auto witness = partition.add(partition.store(), talk.conversation());
    ending.prepare(partition, talk);
    return {std::move(talk), witness};
}

void tell_the_next_turn(OwnedPartition& partition, Scene& scene, bool is_open) {
    if (!is_open) expect(partition.apply(partition.store(), {scene.talk.user("u2")}));
    expect(partition.apply(partition.store(), {scene.talk.status("stuck")}));
}

std::vector<std::string> points_of(const std::string& name, OwnedPartition& partition,
                                   const std::function<void(Store&)>& transaction) {
    std::vector<std::string> points;
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        if (std::find(points.begin(), points.end(), point) == points.end()) points.push_back(point);
    });
    transaction(store);
    std::cout << name << ":\n";
    for (const std::string& point : points) std::cout << "  " << point << "\n";
    std::cout << std::flush;
    return points;
}

}  // namespace epilogue::testing
