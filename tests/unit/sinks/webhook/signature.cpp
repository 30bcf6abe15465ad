#define BOOST_TEST_MODULE signature
#include <boost/test/unit_test.hpp>

#include "sinks/webhook/webhook_signature.h"

using namespace epilogue;

namespace {

const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

}  // namespace

BOOST_AUTO_TEST_CASE(a_message_is_signed_as_the_specification_has_it) {
    const auto key = webhook_key(secret);
    BOOST_REQUIRE(key.has_value());
    // Made with Python's hmac and base64.
    BOOST_TEST(
        webhook_signature(*key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", R"({"test": 2432232314})") ==
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

BOOST_AUTO_TEST_CASE(only_whsec_and_base64_of_24_to_64_bytes_is_a_secret) {
    BOOST_TEST(webhook_key(secret)->size() == 24U);
    BOOST_TEST(webhook_key("whsec_" + std::string(84, 'A') + "AA==").has_value());
    for (const std::string& text :
         {std::string(), std::string("whsec_"), secret.substr(6), "whsec_" + std::string(28, '*'),
          std::string("whsec_c2hvcnQ="), secret.substr(0, secret.size() - 4),
          "whsec_" + std::string(88, 'A') + "AA==", secret + "A", "WHSEC_" + secret.substr(6)})
        BOOST_TEST(!webhook_key(text).has_value(), text);
}
