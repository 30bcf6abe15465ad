// Where reading goes on, by what is stored and what the broker has; and how long /readyz says so.
#define BOOST_TEST_MODULE position_check
#include "worker/consume/position_check.h"

#include <boost/test/unit_test.hpp>

#include "worker/observe/readiness.h"

using namespace epilogue;

namespace {

const RecordFingerprint anchor{{90}, 1234, Instant{std::chrono::hours{24}}};
const StoredPosition stored{"here", {100}, std::nullopt, anchor};

PositionCheck check(Watermarks marks, std::optional<RecordFingerprint> found,
                    const StoredPosition& from = stored, const std::string& cluster = "here") {
    return check_position(from, {cluster, marks, found});
}

bool stays(const PositionCheck& check) {
    return check.change == LogChange::none && check.position == NextOffset{100} && check.lost == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_same_log_is_read_on) {
    BOOST_TEST(stays(check({0, 500}, anchor)));
    BOOST_TEST(stays(check({0, 100}, anchor)));
    BOOST_TEST(stays(check({0, 500}, std::nullopt)));  // compacted away
    BOOST_TEST(stays(check({0, 500}, anchor, stored, "")));
    BOOST_TEST(stays(check({0, 500}, anchor, {"", {100}, std::nullopt, anchor})));
}

BOOST_AUTO_TEST_CASE(a_quiet_partition_emptied_by_retention_has_lost_nothing) {
    BOOST_TEST(stays(check({95, 500}, std::nullopt)));
    BOOST_TEST(stays(check({100, 100}, std::nullopt)));
    // The last two offsets were markers that no consumer is given.
    const StoredPosition caught_up{"here", {100}, NextOffset{102}, anchor};
    const PositionCheck skipped = check({102, 102}, std::nullopt, caught_up);
    BOOST_TEST((skipped.change == LogChange::none));
    BOOST_TEST(skipped.position.value == 102);
}

BOOST_AUTO_TEST_CASE(records_that_are_gone_and_were_never_read_are_a_gap) {
    const PositionCheck gap = check({120, 500}, std::nullopt);
    BOOST_TEST((gap.change == LogChange::gap));
    BOOST_TEST(gap.position.value == 120);
    BOOST_TEST(gap.lost == 20);
    BOOST_TEST(check({120, 500}, std::nullopt, {"here", {100}, NextOffset{105}, anchor}).lost == 15);
}

BOOST_AUTO_TEST_CASE(another_record_in_the_anchors_place_is_another_log) {
    for (const RecordFingerprint& other :
         {RecordFingerprint{{90}, 1235, anchor.timestamp},
          RecordFingerprint{{90}, 1234, anchor.timestamp + std::chrono::seconds{1}}}) {
        const PositionCheck anew = check({3, 500}, other);
        BOOST_TEST((anew.change == LogChange::replaced));
        BOOST_TEST(anew.is_certain);
        BOOST_TEST(anew.position.value == 3);
    }
}

BOOST_AUTO_TEST_CASE(a_log_that_ends_before_the_position_is_another_one_if_it_stays_so) {
    const PositionCheck shorter = check({0, 99}, anchor);
    BOOST_TEST((shorter.change == LogChange::replaced));
    BOOST_TEST(!shorter.is_certain);
    BOOST_TEST(shorter.position.value == 0);
}

BOOST_AUTO_TEST_CASE(another_cluster_is_another_log_whatever_it_holds) {
    const PositionCheck elsewhere = check({7, 500}, std::nullopt, stored, "there");
    BOOST_TEST((elsewhere.change == LogChange::replaced));
    BOOST_TEST(elsewhere.is_certain);
    BOOST_TEST(elsewhere.position.value == 7);
}

BOOST_AUTO_TEST_CASE(what_happened_makes_the_worker_unready_for_a_minute_and_is_said_on) {
    std::chrono::steady_clock::time_point now{};
    Readiness readiness([&] { return now; });
    const std::string line = "topic partition 3: the topic was made anew\n";
    readiness.incident("topic partition 3", "the topic was made anew");
    BOOST_TEST(readiness.missing() == line);
    now += std::chrono::seconds{60};
    BOOST_TEST(readiness.missing() == "");
    BOOST_TEST(readiness.history() == line);
}
