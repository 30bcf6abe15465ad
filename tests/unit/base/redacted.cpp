#define BOOST_TEST_MODULE redacted
#include "base/redacted.h"

#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

const std::string body = "0123456789abcdefABCDEF0123456789abcdefABCDEF";

std::string letters(std::size_t count) {
    return body.substr(0, count);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_secret_is_replaced_by_what_it_was) {
    const std::vector<std::pair<std::string, std::string>> table{
        {"a ghp_" + letters(36) + ".", "a «GitHub token removed»."},
        {"(glpat-" + letters(20) + ")", "(«GitLab token removed»)"},
        {"xoxb-12-34-" + letters(24), "«Slack token removed»"},
        {"AKIA0123456789ABCDEF x", "«AWS key removed» x"},
        {"MY_API_KEY=\"" + letters(12) + "\"", "MY_API_KEY=\"«secret removed»\""},
        {"{\"session_api_key\": \"" + letters(12) + "\"}", "{\"session_api_key\": \"«secret removed»\"}"},
        {"Authorization: Bearer " + letters(20), "Authorization: Bearer «secret removed»"},
        {"curl -H 'bearer " + letters(20) + "'", "curl -H 'bearer «secret removed»'"},
        {"https://me:pass@host/x", "https://me:«password removed»@host/x"},
        {"eyJ" + letters(9) + ".eyJ" + letters(9) + "." + letters(9) + " x", "«web token removed» x"},
        {"-----BEGIN EC PRIVATE KEY-----\n" + body + "\n-----END EC PRIVATE KEY-----\nx",
         "«private key removed»\nx"},
        {"-----BEGIN PRIVATE KEY-----\n" + body, "«private key removed»"},
    };
    for (const auto& [text, expected] : table) {
        BOOST_TEST(redacted(text) == expected);
        BOOST_TEST(redacted(expected) == expected);
    }
}

BOOST_AUTO_TEST_CASE(what_only_resembles_a_secret_stays) {
    for (const std::string text :
         {"ghp_short", "task-0123456789abcdef0123456789", "sk-cube-grid-loading-animation",
          "the password: required", "token = next_token()", "xoxb-", "AKIA", "eyJhbGciOiJIUzI1NiJ9",
          "-----BEGIN CERTIFICATE-----\nMIIE", "https://host:8080/a@b", "git@github.com:o/r.git",
          "password=hunter", "api_key = os.environ[\"API_KEY\"]",
          "commit 0123456789abcdef0123456789abcdef01234567", "basic 12345", "1.2.3", ""})
        BOOST_TEST(redacted(text) == text);
}

BOOST_AUTO_TEST_CASE(a_cut_leaves_no_half_of_a_secret) {
    const std::string text = "used ghp_" + letters(36) + " for it";
    for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
        const auto cut = redacted_prefix(text, bytes);
        BOOST_TEST(cut.size() <= bytes);
        BOOST_TEST(cut.find("ghp_") == std::string::npos, cut);
    }
    BOOST_TEST(redacted_prefix(text, 100) == "used «GitHub token removed» for it");
}
