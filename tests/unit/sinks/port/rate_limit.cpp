#define BOOST_TEST_MODULE rate_limit
#include "base/rate_limit.h"

#include <boost/test/unit_test.hpp>

#include "sinks/port/quota.h"

using namespace epilogue;
using namespace std::chrono_literals;
using Limits = std::vector<RateLimit>;

BOOST_AUTO_TEST_CASE(limits_are_a_count_and_a_unit) {
    BOOST_TEST((parse_rate_limits("1/s 80/min  500/h") == Limits{{1, 1s}, {80, 1min}, {500, 1h}}));
    BOOST_TEST((parse_rate_limits("5000/h") == Limits{{5000, 1h}}));
    BOOST_TEST((parse_rate_limits("") == Limits{}));
    for (const char* bad : {"1", "/s", "1/", "0/s", "-1/s", "+1/s", "1.5/s", "1/sec", "1 /s", "5001/h",
                            "1/s,2/s", "99999999999/s", "1/s x"})
        BOOST_TEST(!parse_rate_limits(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(auto_is_what_a_platform_publishes_of_its_own_host_and_nothing_elsewhere) {
    const auto limits = [](const char* budget, const char* url) {
        return limits_of(budget, url, "https://gitlab.com", "60/min");
    };
    BOOST_TEST((limits("auto", "https://gitlab.com/api/v4") == Limits{{60, 1min}}));
    BOOST_TEST((limits("auto", "https://GitLab.com") == Limits{{60, 1min}}));
    BOOST_TEST((limits("auto", "https://gitlab.example.com/api/v4") == Limits{}));
    BOOST_TEST((limits("auto", "https://gitlab.com.example.com") == Limits{}));
    BOOST_TEST((limits("off", "https://gitlab.com/api/v4") == Limits{}));
    BOOST_TEST((limits("2/s", "http://127.0.0.1:1/gitlab") == Limits{{2, 1s}}));
}

BOOST_AUTO_TEST_CASE(a_credential_is_named_without_being_shown) {
    BOOST_TEST(credential_of("github", "ghp_secret") == "github:4c281411e1ccc93c");
    BOOST_TEST(credential_of("github", "") == "github:none");
    BOOST_TEST(credential_of("slack", "a") != credential_of("slack", "b"));
}

BOOST_AUTO_TEST_CASE(a_credential_is_another_one_on_each_host_but_the_platforms_own) {
    const auto on = [](const std::string& url) {
        return credential_of("github", "ghp_secret", url, "https://api.github.com");
    };
    BOOST_TEST(on("https://api.github.com") == "github:4c281411e1ccc93c");
    BOOST_TEST(on("https://API.github.com/") == "github:4c281411e1ccc93c");
    BOOST_TEST(on("https://git.example.com/api/v3") == "github:4c281411e1ccc93c@git.example.com");
    BOOST_TEST(on("http://127.0.0.1:81/x") == "github:4c281411e1ccc93c@127.0.0.1:81");
    const std::string far = on("https://" + std::string(200, 'a') + ".example.com");
    BOOST_TEST(far.size() <= 80U);
    BOOST_TEST(far != on("https://" + std::string(200, 'b') + ".example.com"));
}

BOOST_AUTO_TEST_CASE(a_budget_allows_five_look_ups_for_each_post) {
    BOOST_TEST((look_limits_of({{1, 1s}, {500, 1h}}) == Limits{{5, 1s}, {2500, 1h}}));
    BOOST_TEST(look_limits_of({}).empty());
}
