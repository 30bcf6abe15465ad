// When a partition's queue is full and when it is fetched again, and what is known of its end.
#define BOOST_TEST_MODULE lanes
#include "worker/consume/partition_queues.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

/// Lanes with one partition that reads from its beginning.
struct OneLane {
    explicit OneLane(std::size_t batch_records) : lanes(LaneLimits{.batch_records = batch_records}) {
        lanes.open({0});
        LaneWork work = lanes.next({}, {});
        lanes.start(std::get<ClaimWanted>(work).lane, {});
    }

    /// Queues records until the lane is full; returns how many that took, or `most` when it is not full then.
    std::size_t fill(std::size_t most) {
        for (std::size_t pushed = 1; pushed <= most; ++pushed) {
            RecordView record;
            record.offset = {next++};
            if (lanes.push({record, Record::Keep(nullptr, [](void*) {})}) == Lanes::Room::full) return pushed;
        }
        return most;
    }

    LaneWork next_work() { return lanes.next({}, {}); }

    /// One batch is taken and stored; returns its size.
    std::size_t work() {
        LaneWork found = next_work();
        auto& ready = std::get<RecordsReady>(found);
        lanes.done(ready.lane, ready.claim);
        return ready.records.size();
    }

    Lanes lanes;
    std::int64_t next = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_lane_is_full_at_two_batches_and_refilled_when_less_than_one_is_left) {
    OneLane lane(5000);
    BOOST_TEST(lane.fill(20000) == 10000U);
    BOOST_TEST(lane.work() == 5000U);
    BOOST_TEST(lane.lanes.take_refilled().empty());
    BOOST_TEST(lane.work() == 5000U);
    BOOST_TEST(lane.lanes.take_refilled() == std::vector<int>{0});
    BOOST_TEST(lane.lanes.take_refilled().empty());
}

BOOST_AUTO_TEST_CASE(small_batches_never_wait_for_the_poll_thread_to_notice_that_there_is_room) {
    OneLane lane(1);
    BOOST_TEST(lane.fill(20000) == 1000U);
    std::size_t taken = 0;
    while (lane.lanes.take_refilled().empty()) taken += lane.work();
    BOOST_TEST(taken == 501U);
    BOOST_TEST(lane.work() == 1U);
}

BOOST_AUTO_TEST_CASE(an_end_seen_before_the_partition_is_claimed_again_proves_nothing) {
    OneLane lane(5000);
    BOOST_TEST(lane.fill(3) == 3U);
    lane.lanes.saw_end({0, {3}});
    const LaneId id = std::get<RecordsReady>(lane.next_work()).lane;
    lane.lanes.fence(id, {});
    lane.lanes.saw_end({0, {3}});
    const LaneWork claim = lane.next_work();
    BOOST_TEST(std::get<ClaimWanted>(claim).was_fenced);
    Claim again;
    again.next_due = Instant{};
    lane.lanes.start(id, again);
    BOOST_TEST(!std::get<TimerNear>(lane.next_work()).end_seen.has_value());
}
