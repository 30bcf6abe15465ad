#include "base/process/token_command.h"

#define BOOST_TEST_MODULE base_process_token_command
#include <boost/test/unit_test.hpp>

namespace {

using namespace epilogue;

const Instant now{std::chrono::seconds{1'000'000}};

Instant at(std::int64_t seconds) {
    return Instant{std::chrono::seconds{seconds}};
}

/// {"alg":"none"}.{"sub":"worker","exp":2000000}.
const std::string jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ3b3JrZXIiLCJleHAiOjIwMDAwMDB9.";

}  // namespace

BOOST_AUTO_TEST_CASE(a_jwt_says_itself_when_it_expires_and_whom_it_names) {
    const auto token = parse_token(jwt + "\n", now);
    BOOST_REQUIRE(token);
    BOOST_TEST((token->text.reveal() == jwt));
    BOOST_TEST((token->expires == at(2'000'000)));
    BOOST_TEST(token->principal == "worker");
}

BOOST_AUTO_TEST_CASE(the_answer_of_a_token_endpoint_is_taken_as_it_is) {
    const auto token =
        parse_token(R"({"access_token": ")" + jwt + R"(", "expires_in": 60, "token_type": "bearer"})", now);
    BOOST_REQUIRE(token);
    BOOST_TEST((token->text.reveal() == jwt));
    BOOST_TEST((token->expires == at(1'000'060)));
    BOOST_TEST(token->principal == "worker");
}

BOOST_AUTO_TEST_CASE(a_lifetime_may_have_a_fraction_and_one_that_is_no_lifetime_counts_for_nothing) {
    const auto expiry_of = [](const std::string& lifetime) {
        const auto token = parse_token(R"({"access_token": "opaque", "expires_in": )" + lifetime + "}", now);
        BOOST_REQUIRE(token);
        return token->expires;
    };
    BOOST_TEST((expiry_of("60.9") == at(1'000'060)));
    for (const std::string lifetime : {"-1", "1e300", "18446744073709551615", "\"60\"", "null"})
        BOOST_TEST((expiry_of(lifetime) == at(1'000'300)));
}

BOOST_AUTO_TEST_CASE(a_token_that_tells_nothing_is_asked_for_again_after_five_minutes) {
    const auto token = parse_token("opaque", now);
    BOOST_REQUIRE(token);
    BOOST_TEST((token->expires == at(1'000'300)));
    BOOST_TEST(token->principal.empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_token_is_refused_without_repeating_it) {
    for (const std::string output : {"", "two words-of-text", "{\"access_token\": 7}", "{not json"}) {
        const auto token = parse_token(output, now);
        BOOST_REQUIRE(!token);
        BOOST_TEST(token.error().text.find("words-of-text") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_command_gives_a_token_or_says_why_there_is_none) {
    BOOST_TEST(!token_command(""));
    const auto token = token_command("printf %s " + jwt)();
    BOOST_REQUIRE(token);
    BOOST_TEST(token->principal == "worker");
    const auto refused = token_command("echo first >&2; echo the vault is sealed >&2; exit 3")();
    BOOST_REQUIRE(!refused);
    BOOST_TEST(refused.error().text == "the token command ended with 3: the vault is sealed");
}
