// What is remembered of a partition's troubles between two works on it.
#define BOOST_TEST_MODULE partition_troubles
#include "worker/consume/partition_troubles.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr PartitionTroubles::SteadyTime start{1h};

}  // namespace

BOOST_AUTO_TEST_CASE(failures_are_counted_for_each_partition_until_it_works_again) {
    PartitionTroubles troubles;
    BOOST_TEST(troubles.failed(1) == 1);
    BOOST_TEST(troubles.failed(1) == 2);
    BOOST_TEST(troubles.failed(2) == 1);
    troubles.works_again(1);
    BOOST_TEST(troubles.failed(1) == 1);
    BOOST_TEST(troubles.failed(2) == 2);
}

BOOST_AUTO_TEST_CASE(a_log_is_believed_to_be_shorter_once_it_was_seen_so_for_three_seconds) {
    PartitionTroubles troubles;
    BOOST_TEST(!troubles.is_short_for_long(1, start));
    BOOST_TEST(!troubles.is_short_for_long(1, start + 2999ms));
    BOOST_TEST(!troubles.is_short_for_long(2, start + 3s));
    BOOST_TEST(troubles.is_short_for_long(1, start + 3s));
    BOOST_TEST(troubles.is_short_for_long(1, start + 33s));
    BOOST_TEST(!troubles.is_short_for_long(1, start + 64s), "it was not seen so for 30 s");
}

BOOST_AUTO_TEST_CASE(a_claim_ends_the_doubt_about_a_log) {
    PartitionTroubles troubles;
    BOOST_TEST(!troubles.is_short_for_long(1, start));
    BOOST_TEST(!troubles.claimed(1));
    BOOST_TEST(!troubles.is_short_for_long(1, start + 3s));
}

BOOST_AUTO_TEST_CASE(a_partition_of_others_is_told_once_until_it_is_claimed) {
    PartitionTroubles troubles;
    BOOST_TEST(troubles.owned_elsewhere(1));
    BOOST_TEST(!troubles.owned_elsewhere(1));
    BOOST_TEST(troubles.owned_elsewhere(2));
    BOOST_TEST(troubles.claimed(1));
    BOOST_TEST(!troubles.claimed(1));
    BOOST_TEST(troubles.owned_elsewhere(1));
}

BOOST_AUTO_TEST_CASE(brokers_that_did_not_answer_are_asked_about_logs_ten_seconds_later) {
    PartitionTroubles troubles;
    BOOST_TEST(troubles.may_verify(start));
    troubles.could_not_verify(start);
    BOOST_TEST(!troubles.may_verify(start + 9999ms));
    BOOST_TEST(troubles.may_verify(start + 10s));
}
