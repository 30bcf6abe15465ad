#define BOOST_TEST_MODULE reconcile_pace
#include "worker/core/reconcile_pace.h"

#include <algorithm>
#include <set>

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds day = 24h;

/// Asks until it is given up, without ever getting an answer. Returns the pauses.
std::vector<std::chrono::seconds> pauses(ReconcileReason why, Hindrance hindrance,
                                         std::chrono::seconds patience) {
    std::vector<std::chrono::seconds> all;
    VainQuestion question{why, hindrance, 0, 0s};
    while (all.size() < 10'000) {
        ++question.attempts;
        const auto pause = pause_after(question, patience);
        if (!pause) break;
        all.push_back(*pause);
        question.asked_for += *pause;
    }
    return all;
}

std::chrono::seconds sum(const std::vector<std::chrono::seconds>& all) {
    std::chrono::seconds total{0};
    for (const auto each : all) total += each;
    return total;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_late_registration_is_asked_about_for_the_whole_time_whatever_hinders_it) {
    for (const Hindrance hindrance : all_hindrances())
        for (const std::chrono::seconds patience : {std::chrono::seconds(1h), day, 7 * day}) {
            const auto all = pauses(ReconcileReason::registered, hindrance, patience);
            BOOST_TEST_CONTEXT(name_of(hindrance) << " " << patience.count()) {
                BOOST_TEST(sum(all).count() >= patience.count());
                BOOST_TEST(sum(all).count() <= patience.count() + 3600);
            }
        }
}

BOOST_AUTO_TEST_CASE(the_pauses_grow_and_none_is_longer_than_forty_minutes) {
    for (const Hindrance hindrance : all_hindrances()) {
        const auto all = pauses(ReconcileReason::registered, hindrance, day);
        BOOST_TEST(std::is_sorted(all.begin(), all.end()));
        BOOST_TEST(all.front() < all.back());
        BOOST_TEST(all.back().count() <= 2400);
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_was_away_is_asked_within_ten_minutes_of_its_return) {
    for (const Hindrance hindrance : {Hindrance::unreachable, Hindrance::unauthorised, Hindrance::unusable})
        BOOST_TEST(pauses(ReconcileReason::registered, hindrance, day).back().count() <= 600);
}

BOOST_AUTO_TEST_CASE(
    of_a_log_that_takes_eight_seconds_to_fail_a_server_reads_less_than_a_hundredth_of_its_time) {
    const auto all = pauses(ReconcileReason::registered, Hindrance::failed, day);
    BOOST_TEST(all.front().count() >= 30);
    BOOST_TEST(all.size() * 8 * 100 < static_cast<std::size_t>(day.count()));
}

BOOST_AUTO_TEST_CASE(without_any_patience_it_is_asked_four_times_more) {
    BOOST_TEST(pauses(ReconcileReason::registered, Hindrance::unreachable, 0s).size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_left_alone_is_not_asked_before_that_is_over) {
    VainQuestion question{ReconcileReason::registered, Hindrance::failed, 1, 0s};
    BOOST_TEST(pause_after(question, day).value().count() == 30);
    question.left_alone = 20s;
    BOOST_TEST(pause_after(question, day).value().count() == 30);
    question.left_alone = 299'001ms;
    BOOST_TEST(pause_after(question, day).value().count() == 300);
}

BOOST_AUTO_TEST_CASE(an_inactivity_is_asked_about_four_times_more_and_an_absent_conversation_never) {
    BOOST_TEST(pauses(ReconcileReason::inactivity, Hindrance::unreachable, day).size() == 4U);
    for (const Hindrance hindrance :
         {Hindrance::unknown, Hindrance::not_begun, Hindrance::no_server, Hindrance::unusable})
        BOOST_TEST(pauses(ReconcileReason::inactivity, hindrance, day).empty());
}

BOOST_AUTO_TEST_CASE(after_a_gap_it_is_asked_for_a_day_and_what_the_server_does_not_know_lies_in_none) {
    BOOST_TEST(sum(pauses(ReconcileReason::gap, Hindrance::unreachable, 0s)).count() >= day.count());
    BOOST_TEST(pauses(ReconcileReason::gap, Hindrance::unknown, day).empty());
}

BOOST_AUTO_TEST_CASE(a_callback_is_told_what_hinders_unless_nothing_is_wrong) {
    BOOST_TEST(is_told(ReconcileReason::registered, Hindrance::unknown));
    BOOST_TEST(is_told(ReconcileReason::gap, Hindrance::unreachable));
    BOOST_TEST(!is_told(ReconcileReason::registered, Hindrance::not_begun));
    BOOST_TEST(!is_told(ReconcileReason::gap, Hindrance::unknown));
    BOOST_TEST(!is_told(ReconcileReason::inactivity, Hindrance::unreachable));
}

BOOST_AUTO_TEST_CASE(each_has_a_name_of_its_own) {
    std::set<std::string_view> names;
    for (const Hindrance hindrance : all_hindrances()) {
        BOOST_TEST((hindrance_named(name_of(hindrance)) == hindrance));
        names.insert(name_of(hindrance));
    }
    BOOST_TEST(names.size() == 7U);
    BOOST_TEST(!hindrance_named("").has_value());
}
