// When a partition's queue is full and when it is resumed, what is known of its end, and what is committed.
#define BOOST_TEST_MODULE partition_queues
#include "worker/consume/partition_queues.h"

#include <future>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

/// Queues with one partition that reads from its beginning.
struct OneQueue {
    explicit OneQueue(std::size_t batch_records) : queues(QueueLimits{.batch_records = batch_records}) {
        queues.assign({0});
        PartitionWork work = queues.next({}, {});
        queues.start(std::get<NeedsClaim>(work).assignment, {});
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

    PartitionWork next_work() { return queues.next({}, {}); }

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
    queues.with_committable_offsets(true, [&](const auto& positions) { committed = positions; });
    BOOST_TEST((committed == std::map<int, NextOffset>{{1, {5}}}));
    queues.revoke({1});
    queues.with_committable_offsets(true,
                                    [](const auto&) { BOOST_ERROR("a revoked partition is committed"); });
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
    queue.queues.with_committable_offsets(true,
                                          [](const auto&) { BOOST_ERROR("an old assignment is committed"); });
}

BOOST_AUTO_TEST_CASE(a_revocation_waits_for_a_commit_that_has_begun) {
    using namespace std::chrono_literals;
    OneQueue queue(5000);
    std::future<void> revoked;
    queue.queues.with_committable_offsets(true, [&](const auto& positions) {
        BOOST_TEST(positions.contains(0));
        revoked = std::async(std::launch::async, [&] { queue.queues.revoke({0}); });
        BOOST_TEST((revoked.wait_for(50ms) == std::future_status::timeout));
    });
    BOOST_TEST((revoked.wait_for(10s) == std::future_status::ready));
}
