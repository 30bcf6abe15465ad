#define BOOST_TEST_MODULE linear
#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/redacted.h"
#include "sinks/format/format.h"

using namespace epilogue;

namespace {

/// What an attacker would repeat: openings without ends, and what rules begin to look at.
const std::vector<std::string>& pieces() {
    static const std::vector<std::string> all{"sk-",
                                              "<b>\n",
                                              "![[]()",
                                              "<a ",
                                              "<i>\n\n",
                                              "![a](b)\n\n",
                                              "[a](http://b@c)",
                                              "ghp_",
                                              "token=",
                                              "key: ",
                                              "eyJ",
                                              "://a:",
                                              "curl -u ",
                                              "password ",
                                              "`",
                                              "`a``b",
                                              "[",
                                              "](",
                                              "**",
                                              "_a_",
                                              "&#64;",
                                              "\\_",
                                              "%41",
                                              "@a ",
                                              "/close\n",
                                              "<!--",
                                              "<",
                                              "> ",
                                              "<x|",
                                              "[a]: x\n",
                                              "<http://",
                                              "www.",
                                              "a@b.c",
                                              "|",
                                              "~~",
                                              "```\n",
                                              "``` a\n```\n",
                                              "-----BEGIN PRIVATE KEY-----\n",
                                              "machine a login b password "};
    return all;
}

/// The processor's time for `work`, the best of three: what else runs on the machine is not counted.
template <class Work>
double seconds(const Work& work) {
    constexpr int tries = 3;
    double best = 1e9;
    for (int i = 0; i < tries; ++i) {
        const auto start = std::clock();
        work();
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
}

std::string repeated(const std::string& piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
}

/// That four times the length takes less than ten times as long: the square would take sixteen times.
template <class Work>
void check_linear(const std::string& piece, std::size_t bytes, const Work& work) {
    constexpr double factor = 10;
    constexpr double too_short_to_judge = 0.02;
    const auto small = repeated(piece, bytes);
    const auto large = repeated(piece, 4 * bytes);
    const double first = seconds([&] { work(small); });
    const double second = seconds([&] { work(large); });
    BOOST_TEST((second < too_short_to_judge || second < factor * first),
               piece << ": " << first << " s, " << second << " s");
}

}  // namespace

BOOST_AUTO_TEST_CASE(secrets_are_looked_for_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 8000;
    redacted("token");  // the rules are read once
    for (const auto& piece : pieces())
        check_linear(piece, bytes, [](const std::string& text) { redacted(text); });
}

BOOST_AUTO_TEST_CASE(text_is_made_harmless_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 4000;
    for (const auto& piece : pieces())
        check_linear(piece, bytes, [](const std::string& text) { sanitise(text); });
}
