#include "tests/integration/racing_transactions.h"

#include <algorithm>
#include <iostream>

namespace epilogue::testing {
namespace {

Result<void> done(const Result<BatchReport>& report) {
    return report ? Result<void>() : Failure(report.error());
}

void open_turn(OwnedPartition& partition, V1Conversation& conversation) {
    expect(partition.apply(partition.store(), {conversation.user("u1")}));
}

}  // namespace

EndingTransaction EndingTransaction::by_a_batch() {
    return {"a batch that ends the turn", open_turn,
            [](OwnedPartition& partition, Store& store, V1Conversation& conversation) {
                return done(
                    partition.apply(store, {conversation.status("stuck"), {.key = "k", .value = "poison"}}));
            }};
}

EndingTransaction EndingTransaction::by_a_longer_batch() {
    return {"a batch that ends the turn and opens another", open_turn,
            [](OwnedPartition& partition, Store& store, V1Conversation& conversation) {
                return done(partition.apply(store, {conversation.status("stuck"), conversation.user("u2")}));
            },
            true};
}

EndingTransaction EndingTransaction::by_timers() {
    return {
        "timers that end the turn",
        [](OwnedPartition& partition, V1Conversation& conversation) {
            expect(partition.apply(partition.store(),
                                   {conversation.user("u1"), conversation.status("finished")}));
        },
        [](OwnedPartition& partition, Store& store, V1Conversation&) { return done(partition.tick(store)); }};
}

CallbackTransaction CallbackTransaction::adoption() {
    return {"an adoption",
            [](OwnedPartition& partition, const std::string& conversation) {
                return partition.insert_row(conversation);
            },
            [](OwnedPartition& partition, Store& store, const std::string&, std::int64_t row) {
                partition.adopt(store);
                return row;
            }};
}

CallbackTransaction CallbackTransaction::waking() {
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

CallbackTransaction CallbackTransaction::registration() {
    return {"a registration", [](OwnedPartition&, const std::string&) { return std::int64_t{0}; },
            [](OwnedPartition& partition, Store& store, const std::string& conversation, std::int64_t) {
                return partition.add(store, conversation);
            },
            true};
}

RacedConversation next_conversation(OwnedPartition& partition, const EndingTransaction& ending) {
    static int conversations = 0;
    V1Conversation conversation("raced-" + std::to_string(conversations++));
    const auto witness = partition.add(partition.store(), conversation.id());
    ending.prepare(partition, conversation);
    return {std::move(conversation), witness};
}

void run_the_next_turn(OwnedPartition& partition, RacedConversation& raced, bool is_open) {
    if (!is_open) expect(partition.apply(partition.store(), {raced.conversation.user("u2")}));
    expect(partition.apply(partition.store(), {raced.conversation.status("stuck")}));
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
