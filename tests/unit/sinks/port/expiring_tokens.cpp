#define BOOST_TEST_MODULE expiring_tokens
#include "sinks/port/expiring_tokens.h"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr Instant begin{std::chrono::hours{500'000}};

struct Fixture {
    ExpiringTokens tokens;

    /// The token, "renew" or "busy".
    std::string ask(Instant now, const std::string& refused = "", const std::string& key = "34") {
        auto right = tokens.ask(key, refused, now);
        if (const auto* token = std::get_if<std::string>(&right)) return *token;
        return std::holds_alternative<ExpiringTokens::Busy>(right) ? "busy" : "renew";
    }
    std::optional<ExpiringTokens::Renewal> renewal(Instant now, const std::string& refused = "") {
        auto right = tokens.ask("34", refused, now);
        auto* renewal = std::get_if<ExpiringTokens::Renewal>(&right);
        BOOST_REQUIRE(renewal != nullptr);
        return std::move(*renewal);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(one_asks_for_the_first_token_and_the_others_wait, Fixture) {
    auto first = renewal(begin);
    BOOST_TEST(ask(begin) == "busy");
    BOOST_TEST(ask(begin, "", "35") == "renew");
    first->done("t1", begin, 1h);
    BOOST_TEST(ask(begin) == "t1");
}

BOOST_FIXTURE_TEST_CASE(a_token_is_renewed_before_it_ends_and_used_meanwhile, Fixture) {
    renewal(begin)->done("t1", begin, 1h);
    BOOST_TEST(ask(begin + 55min - 1s) == "t1");
    auto next = renewal(begin + 55min);
    BOOST_TEST(ask(begin + 59min) == "t1");
    BOOST_TEST(ask(begin + 60min) == "busy");
    next->done("t2", begin + 60min, 1h);
    BOOST_TEST(ask(begin + 60min) == "t2");
}

BOOST_FIXTURE_TEST_CASE(one_that_lives_shortly_is_renewed_once_in_its_life, Fixture) {
    renewal(begin)->done("t1", begin, 4s);
    BOOST_TEST(ask(begin + 2999ms) == "t1");
    renewal(begin + 3s)->done("t2", begin + 3s, 4s);
    BOOST_TEST(ask(begin + 5999ms) == "t2");
}

BOOST_FIXTURE_TEST_CASE(a_refused_token_is_handed_out_no_more, Fixture) {
    renewal(begin)->done("t1", begin, 1h);
    {
        auto next = renewal(begin + 1min, "t1");
        BOOST_TEST(ask(begin + 1min) == "busy");
        next->done("t2", begin + 1min, 1h);
    }
    BOOST_TEST(ask(begin + 1min, "t1") == "t2");  // refused to another, which is told of the new one
}

BOOST_FIXTURE_TEST_CASE(a_renewal_that_is_given_up_is_anothers, Fixture) {
    { const auto given_up = renewal(begin); }
    BOOST_TEST(ask(begin) == "renew");
}

BOOST_FIXTURE_TEST_CASE(a_platform_that_cannot_be_asked_leaves_the_token_that_is_still_good, Fixture) {
    renewal(begin)->done("t1", begin, 1h);
    BOOST_TEST(renewal(begin + 56min)->put_off(begin + 56min) == "t1");
    BOOST_TEST(ask(begin + 58min - 1s) == "t1");
    BOOST_TEST(renewal(begin + 58min)->put_off(begin + 60min) == "");
    BOOST_TEST(renewal(begin + 60min, "t1")->put_off(begin + 60min) == "");
}

BOOST_FIXTURE_TEST_CASE(however_many_ask_at_once_one_of_them_renews, Fixture) {
    std::atomic<int> renewals{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 1000; ++round) {
                auto right = tokens.ask("34", "", begin + std::chrono::seconds{round});
                auto* renewal = std::get_if<ExpiringTokens::Renewal>(&right);
                if (renewal == nullptr) continue;
                ++renewals;
                renewal->done("t", begin + std::chrono::seconds{round}, 1h);
            }
        });
    threads.clear();
    BOOST_TEST(renewals == 1);
}
