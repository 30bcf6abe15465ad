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

BOOST_AUTO_TEST_CASE(another_id_of_the_topic_is_a_topic_made_anew_whatever_the_records_say) {
    const StoredPosition old{"here", {100}, std::nullopt, anchor, "old-id"};
    for (const std::optional<RecordFingerprint>& found : {std::optional(anchor), {}}) {
        const PositionCheck anew = check_position(old, {"here", {95, 500}, found, "new-id"});
        BOOST_TEST((anew.change == LogChange::replaced));
        BOOST_TEST(anew.is_certain);
        BOOST_TEST(anew.position.value == 95);
        BOOST_TEST(anew.why ==
                   "the topic was made anew: its id is new-id, and was old-id; read from offset 95");
    }
    // Before its end is known to the leader, too: the id is enough.
    BOOST_TEST(check_position(old, {"here", {0, 0}, std::nullopt, "new-id"}).is_certain);
}

BOOST_AUTO_TEST_CASE(the_same_id_is_the_same_topic_and_a_log_that_does_not_fit_was_cut_off) {
    const StoredPosition same{"here", {100}, std::nullopt, anchor, "id"};
    BOOST_TEST(stays(check_position(same, {"here", {0, 500}, anchor, "id"})));
    const RecordFingerprint other{{90}, 1235, anchor.timestamp};
    for (const auto& [marks, found] :
         {std::pair(Watermarks{0, 500}, other), std::pair(Watermarks{0, 99}, anchor)}) {
        const PositionCheck cut = check_position(same, {"here", marks, found, "id"});
        BOOST_TEST((cut.change == LogChange::replaced));
        BOOST_TEST(cut.why.starts_with("the log was cut off"), cut.why);
        BOOST_TEST(cut.position.value == 0);
    }
}

BOOST_AUTO_TEST_CASE(without_an_id_on_either_side_the_record_and_the_end_tell) {
    const RecordFingerprint other{{90}, 1235, anchor.timestamp};
    for (const auto& [before, now] : {std::pair("", "id"), std::pair("id", ""), std::pair("", "")}) {
        const StoredPosition from{"here", {100}, std::nullopt, anchor, before};
        BOOST_TEST(stays(check_position(from, {"here", {0, 500}, anchor, now})));
        const PositionCheck anew = check_position(from, {"here", {0, 500}, other, now});
        BOOST_TEST(anew.why.starts_with("the topic was made anew: the record at offset 90"), anew.why);
    }
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
