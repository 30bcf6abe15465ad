// When a partition's queue is full and when it is resumed, what is known of its end, and what is committed.
#define BOOST_TEST_MODULE partition_queues
#include "worker/consume/partition_queues.h"

#include <atomic>
#include <future>

#include <boost/test/unit_test.hpp>

#include "tests/support/eventually.h"

using namespace epilogue;
using epilogue::testing::eventually;

namespace {

void queue_record(PartitionQueues& queues, int partition, std::int64_t offset) {
    RecordView record;
    record.partition = partition;
    record.offset = {offset};
    (void)queues.push({record, Record::Keep(nullptr, [](void*) {})});
}

/// Queues with one partition that reads from its beginning.
struct OneQueue {
    explicit OneQueue(std::size_t batch_records) : queues(QueueLimits{.batch_records = batch_records}) {
        queues.assign({0});
        queues.start(std::get<NeedsClaim>(next_work()).assignment, {});
    }

    /// Queues records until the queue is full; returns how many that took, or `most` when it is not full
    /// then.
    std::size_t fill(std::size_t most) {
        for (std::size_t pushed = 1; pushed <= most; ++pushed) {
            RecordView record;
            record.offset = {next++};
            if (queues.push({record, Record::Keep(nullptr, [](void*) {})}) == PartitionQueues::After::pause)
                return pushed;
        }
        return most;
    }

    /// What the only loop finds to do. It is released at once.
    PartitionWork next_work() {
        PartitionWork work = queues.next({}, {});
        queues.release(work);
        return work;
    }

    /// One batch is taken and stored; returns its size.
    std::size_t work() {
        PartitionWork found = next_work();
        auto& ready = std::get<BatchReady>(found);
        queues.done(ready.assignment, ready.claim);
        return ready.records.size();
    }

    PartitionQueues queues;
    std::int64_t next = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_queue_is_full_at_two_batches_and_resumed_when_less_than_one_is_left) {
    OneQueue queue(5000);
    BOOST_TEST(queue.fill(20000) == 10000U);
    BOOST_TEST(queue.work() == 5000U);
    BOOST_TEST(queue.queues.partitions_to_resume().empty());
    BOOST_TEST(queue.work() == 5000U);
    BOOST_TEST(queue.queues.partitions_to_resume() == std::vector<int>{0});
    BOOST_TEST(queue.queues.partitions_to_resume().empty());
}

BOOST_AUTO_TEST_CASE(small_batches_never_wait_for_the_poll_thread_to_notice_that_there_is_room) {
    OneQueue queue(1);
    BOOST_TEST(queue.fill(20000) == 1000U);
    std::size_t taken = 0;
    while (queue.queues.partitions_to_resume().empty()) taken += queue.work();
    BOOST_TEST(taken == 501U);
    BOOST_TEST(queue.work() == 1U);
}

BOOST_AUTO_TEST_CASE(an_end_seen_before_the_partition_is_claimed_again_proves_nothing) {
    OneQueue queue(5000);
    BOOST_TEST(queue.fill(3) == 3U);
    queue.queues.on_partition_eof({0, {3}});
    const AssignmentId id = std::get<BatchReady>(queue.next_work()).assignment;
    queue.queues.fence(id, {});
    queue.queues.on_partition_eof({0, {3}});
    const PartitionWork claim = queue.next_work();
    BOOST_TEST(std::get<NeedsClaim>(claim).was_fenced);
    Claim again;
    again.next_due = Instant{};
    queue.queues.start(id, again);
    BOOST_TEST(!std::get<TimersDue>(queue.next_work()).end_seen.has_value());
}

BOOST_AUTO_TEST_CASE(once_revoked_nothing_is_committed) {
    PartitionQueues queues({});
    queues.assign({0, 1});
    for (int partition = 0; partition < 2; ++partition) {
        const PartitionWork work = queues.next({}, {});
        Claim claim;
        claim.position = {5};
        queues.start(std::get<NeedsClaim>(work).assignment, claim);
    }
    BOOST_TEST((queues.revoke({0}) == std::map<int, NextOffset>{{0, {5}}}));
    std::map<int, NextOffset> committed;
    queues.with_committable_offsets([&](const auto& positions) { committed = positions; });
    BOOST_TEST((committed == std::map<int, NextOffset>{{1, {5}}}));
    queues.revoke({1});
    queues.with_committable_offsets([](const auto&) { BOOST_ERROR("a revoked partition is committed"); });
}

BOOST_AUTO_TEST_CASE(work_that_ends_after_a_revocation_commits_nothing) {
    OneQueue queue(1);
    BOOST_TEST(queue.fill(2) == 2U);
    PartitionWork found = queue.next_work();
    auto& ready = std::get<BatchReady>(found);
    queue.queues.revoke({0});
    queue.queues.assign({0});
    ready.claim.position = {1};
    queue.queues.done(ready.assignment, ready.claim);
    queue.queues.with_committable_offsets([](const auto&) { BOOST_ERROR("an old assignment is committed"); });
}

BOOST_AUTO_TEST_CASE(a_revocation_waits_for_a_commit_that_has_begun) {
    using namespace std::chrono_literals;
    OneQueue queue(5000);
    std::future<void> revoked;
    queue.queues.with_committable_offsets([&](const auto& positions) {
        BOOST_TEST(positions.contains(0));
        revoked = std::async(std::launch::async, [&] { queue.queues.revoke({0}); });
        BOOST_TEST((revoked.wait_for(50ms) == std::future_status::timeout));
    });
    BOOST_TEST((revoked.wait_for(10s) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(two_loops_never_have_work_of_the_same_partition) {
    PartitionQueues queues({.batch_records = 1});
    queues.assign({0, 1});
    const auto assignment_of = [](const PartitionWork& work) {
        return std::get<NeedsClaim>(work).assignment;
    };
    const AssignmentId first = assignment_of(queues.next({}, {}));
    const AssignmentId second = assignment_of(queues.next({}, {}));
    BOOST_TEST(std::holds_alternative<std::monostate>(queues.next({}, {})), "both are being claimed");
    queues.start(first, {});
    queues.start(second, {});
    queues.release(NeedsClaim{first});
    queues.release(NeedsClaim{second});
    for (const std::int64_t offset : {0, 1})
        for (const int partition : {0, 1}) queue_record(queues, partition, offset);
    const PartitionWork one = queues.next({}, {});
    const PartitionWork other = queues.next({}, {});
    BOOST_TEST(std::get<BatchReady>(one).assignment.partition == 0);
    BOOST_TEST(std::get<BatchReady>(other).assignment.partition == 1);
    BOOST_TEST(std::holds_alternative<std::monostate>(queues.next({}, {})), "each has one record more");
    queues.done(second, {});
    queues.release(other);
    BOOST_TEST(std::get<BatchReady>(queues.next({}, {})).assignment.partition == 1);
}

BOOST_AUTO_TEST_CASE(a_partition_that_is_assigned_anew_waits_for_the_work_of_its_assignment_before) {
    OneQueue queue(1);
    BOOST_TEST(queue.fill(1) == 1U);
    const PartitionWork old = queue.queues.next({}, {});
    BOOST_TEST(std::holds_alternative<BatchReady>(old));
    queue.queues.revoke({0});
    queue.queues.assign({0});
    BOOST_TEST(std::holds_alternative<std::monostate>(queue.queues.next({}, {})));
    queue.queues.release(old);
    BOOST_TEST(std::holds_alternative<NeedsClaim>(queue.queues.next({}, {})));
}

BOOST_AUTO_TEST_CASE(while_a_batch_grows_no_other_loop_is_given_its_partition) {
    using namespace std::chrono_literals;
    std::atomic<int> looked_at_clock = 0;
    PartitionQueues queues({.batch_wait = 60s}, {.steady = [&] {
                               ++looked_at_clock;
                               return std::chrono::steady_clock::now();
                           }});
    queues.assign({0});
    const PartitionWork unclaimed = queues.next({}, {});
    queues.start(std::get<NeedsClaim>(unclaimed).assignment, {});
    queues.release(unclaimed);
    queue_record(queues, 0, 0);
    looked_at_clock = 0;
    auto growing = std::async(std::launch::async, [&] { return queues.next(60s, {}); });
    // It looks when it begins and, under the queues' lock, when it takes the partition.
    eventually("the batch", [&] { return looked_at_clock >= 2; });
    constexpr std::int64_t a_full_batch = 5000;
    for (std::int64_t offset = 1; offset < a_full_batch; ++offset) {
        queue_record(queues, 0, offset);
        BOOST_REQUIRE(std::holds_alternative<std::monostate>(queues.next({}, {})));
    }
    BOOST_TEST(!std::get<BatchReady>(growing.get()).records.empty());
}
