#define BOOST_TEST_MODULE comparisons
#include "agent/relay/webhook/comparisons.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace epilogue::relay;
using namespace std::chrono_literals;

namespace {

const Comparisons::Time start{};
const ConversationId one("one");
const ConversationId two("two");

ComparisonRules rules() {
    return {1s, 60s, 120s, 3, 4};
}

std::vector<std::string> names(const std::vector<ConversationId>& conversations) {
    std::vector<std::string> names;
    for (const auto& each : conversations) names.push_back(each.text());
    return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_end_of_a_run_is_compared_soon_and_silence_after_a_while) {
    Comparisons comparisons(rules());
    comparisons.came(one, "a", false, start);
    comparisons.came(two, "b", false, start);
    comparisons.came(two, "c", true, start + 1s);
    comparisons.came(two, "d", false, start + 1s);  // does not put it off
    BOOST_TEST(comparisons.due(10, start + 1s).empty());
    BOOST_TEST((names(comparisons.due(10, start + 2s)) == std::vector<std::string>{"two"}));
    comparisons.came(one, "e", false, start + 30s);
    BOOST_TEST(comparisons.due(10, start + 60s).empty());
    BOOST_TEST((names(comparisons.due(10, start + 90s)) == std::vector<std::string>{"one"}));
    BOOST_TEST(comparisons.due(10, start + 1000s).empty());
}

BOOST_AUTO_TEST_CASE(what_came_is_known_until_a_comparison_has_passed_it) {
    Comparisons comparisons(rules());
    comparisons.came(one, "a", true, start);
    BOOST_TEST(comparisons.has(one, "a"));
    BOOST_TEST(!comparisons.has(two, "a"));
    BOOST_TEST(comparisons.due(10, start + 1s).size() == 1U);
    comparisons.came(one, "b", false, start + 2s);
    BOOST_TEST(comparisons.has(one, "a"));
    BOOST_TEST(comparisons.has(one, "b"));
    comparisons.over(one, Compared::caught_up, 0, start + 3s);
    BOOST_TEST(!comparisons.has(one, "a"));
    BOOST_TEST(comparisons.has(one, "b"));
}

BOOST_AUTO_TEST_CASE(what_was_brought_counts_when_no_webhook_brings_it_any_more) {
    Comparisons comparisons(rules());
    comparisons.came(one, "a", true, start);
    comparisons.due(10, start + 1s);
    comparisons.brought(one, "missing", start + 2s);
    comparisons.brought(one, "missing", start + 2s);  // given up by Kafka, and brought again
    comparisons.brought(one, "on its way", start + 2s);
    comparisons.over(one, Compared::caught_up, 0, start + 3s);
    BOOST_TEST(comparisons.take_missing(start + 30s).found == 0);
    comparisons.came(one, "on its way", false, start + 31s);
    const auto missing = comparisons.take_missing(start + 62s);
    BOOST_TEST(missing.found == 1);
    BOOST_TEST(missing.filled == 1);
    BOOST_TEST(missing.lost == 0);
    BOOST_TEST(comparisons.take_missing(start + 200s).found == 0);
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_asked_again_and_then_what_it_had_is_lost) {
    Comparisons comparisons(rules());
    comparisons.came(one, "a", true, start);
    auto now = start + 1s;
    for (int tries = 1; tries <= 3; ++tries) {
        BOOST_TEST(comparisons.due(10, now).size() == 1U);
        comparisons.over(one, Compared::unanswered, 7, now);
        BOOST_TEST(comparisons.due(10, now + 120s * tries - 1s).empty());
        now += 120s * tries;
    }
    BOOST_TEST(comparisons.due(10, now + 10'000s).empty());
    const auto missing = comparisons.take_missing(now);
    BOOST_TEST(missing.found == 7);
    BOOST_TEST(missing.filled == 0);
    BOOST_TEST(missing.lost == 7);
}

BOOST_AUTO_TEST_CASE(a_conversation_that_is_gone_is_lost_at_once_and_one_without_an_address_never) {
    Comparisons comparisons(rules());
    comparisons.want(one, start);
    comparisons.want(two, start);
    BOOST_TEST(comparisons.due(1, start).size() == 1U);
    BOOST_TEST(comparisons.due(1, start).size() == 1U);
    comparisons.over(one, Compared::gone, 2, start);
    comparisons.over(two, Compared::impossible, 5, start);
    BOOST_TEST(comparisons.take_missing(start).lost == 2);
}

BOOST_AUTO_TEST_CASE(of_a_conversation_that_is_never_compared_so_many_events_are_remembered) {
    Comparisons comparisons(rules());
    for (int i = 0; i < 9; ++i) comparisons.came(one, std::to_string(i), false, start);
    BOOST_TEST(!comparisons.has(one, "0"));
    for (int i = 4; i < 9; ++i) BOOST_TEST(comparisons.has(one, std::to_string(i)));
}

BOOST_AUTO_TEST_CASE(what_is_being_compared_is_not_begun_a_second_time) {
    Comparisons comparisons(rules());
    comparisons.came(one, "a", true, start);
    BOOST_TEST(comparisons.due(10, start + 1s).size() == 1U);
    comparisons.came(one, "b", true, start + 2s);
    BOOST_TEST(comparisons.due(10, start + 3s).empty());
    comparisons.over(one, Compared::caught_up, 0, start + 4s);
    BOOST_TEST(comparisons.due(10, start + 63s).size() == 1U);
}

namespace {

/// Ends that wait, by name, and those that went on.
struct Ends {
    Comparisons& comparisons;
    std::string gone_on;
    void wait(const ConversationId& conversation, const std::string& name, Comparisons::Time now) {
        comparisons.before_end(
            conversation, [this, name] { gone_on += name; }, now);
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_end_waits_until_a_comparison_that_began_after_it_is_over) {
    Comparisons comparisons(rules());
    Ends ends{comparisons, ""};
    ends.wait(one, "a", start);
    BOOST_TEST(comparisons.due(10, start).size() == 1U);
    ends.wait(one, "b", start + 1s);
    comparisons.over(one, Compared::caught_up, 0, start + 2s);
    BOOST_TEST(ends.gone_on == "a");
    BOOST_TEST(comparisons.due(10, start + 2s).size() == 1U);
    comparisons.over(one, Compared::caught_up, 0, start + 3s);
    BOOST_TEST(ends.gone_on == "ab");
    BOOST_TEST(comparisons.due(10, start + 1000s).empty());
}

BOOST_AUTO_TEST_CASE(an_end_waits_no_longer_than_it_may_and_not_where_nobody_can_tell) {
    Comparisons comparisons(rules());
    Ends ends{comparisons, ""};
    ends.wait(one, "a", start);
    comparisons.release(start + 4s);
    BOOST_TEST(ends.gone_on == "");
    comparisons.release(start + 5s);
    BOOST_TEST(ends.gone_on == "a");
    comparisons.due(10, start + 5s);
    ends.wait(one, "b", start + 5s);
    comparisons.over(one, Compared::unanswered, 0, start + 6s);
    BOOST_TEST(ends.gone_on == "ab");
    ends.wait(two, "c", start);
    comparisons.due(10, start);
    comparisons.over(two, Compared::impossible, 0, start);
    BOOST_TEST(ends.gone_on == "abc");
    ends.wait(two, "d", start + 59s);  // known not to be possible
    BOOST_TEST(ends.gone_on == "abcd");
    ends.wait(two, "e", start + 61s);
    BOOST_TEST(ends.gone_on == "abcd");
    comparisons.close();
    ends.wait(two, "f", start + 62s);
    BOOST_TEST(ends.gone_on == "abcdef");
}

BOOST_AUTO_TEST_CASE(one_that_is_followed_is_not_compared_but_for_an_end_that_waits) {
    Comparisons comparisons(rules());
    Ends ends{comparisons, ""};
    comparisons.came(one, "a", false, start);
    BOOST_TEST(comparisons.due(10, start + 60s).size() == 1U);
    BOOST_TEST(!comparisons.has_end(one));
    ends.wait(one, "b", start + 60s);  // meanwhile
    BOOST_TEST(comparisons.has_end(one));
    comparisons.over(one, Compared::followed, 0, start + 60s);
    BOOST_TEST(ends.gone_on == "");
    BOOST_TEST(comparisons.due(10, start + 60s).size() == 1U);
    comparisons.over(one, Compared::caught_up, 0, start + 61s);
    BOOST_TEST(ends.gone_on == "b");
    BOOST_TEST(!comparisons.has_end(one));
    comparisons.came(one, "c", false, start + 62s);
    comparisons.due(10, start + 122s);
    comparisons.over(one, Compared::followed, 0, start + 122s);
    ends.wait(one, "d", start + 123s);  // it is not known to be impossible
    BOOST_TEST(ends.gone_on == "b");
}

BOOST_AUTO_TEST_CASE(a_comparison_that_did_not_come_to_its_end_is_made_again_at_once_and_ends_wait_for_it) {
    Comparisons comparisons(rules());
    bool went_on = false;
    comparisons.came(one, "a", false, start);
    comparisons.before_end(
        one, [&] { went_on = true; }, start + 1s);
    BOOST_TEST(comparisons.due(10, start + 1s).size() == 1U);
    comparisons.over(one, Compared::interrupted, 7, start + 2s);
    BOOST_TEST(!went_on);
    BOOST_TEST(comparisons.has(one, "a"));
    BOOST_TEST(comparisons.take_missing(start + 2s).lost == 0);
    BOOST_TEST(comparisons.due(10, start + 2s).size() == 1U);
    comparisons.over(one, Compared::caught_up, 0, start + 3s);
    BOOST_TEST(went_on);
}
