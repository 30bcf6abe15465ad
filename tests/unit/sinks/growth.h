// Texts that an attacker would make long, and whether a work on them takes time that grows with their length.
#pragma once

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

namespace epilogue::growth {

/// What an attacker would repeat: openings without ends, and what rules begin to look at.
inline const std::vector<std::string>& pieces() {
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
                                              "machine a login b password ",
                                              "{code}",
                                              "{{",
                                              "!a|",
                                              "h1. ",
                                              "{quote}\n",
                                              "- [ ] a\n",
                                              "1. a\n   - b\n",
                                              "|a|b|\n|-|-|\n",
                                              "&lt;!here&gt;",
                                              "<!channel>",
                                              ":a:",
                                              "\xF0\x9F\x91\xA8\xE2\x80\x8D",
                                              "\xE2\x80\x8B",
                                              "# a\n",
                                              "> > a\n"};
    return all;
}

/// The processor's time for `work`: what else runs on the machine is not counted.
template <class Work>
double seconds(const Work& work) {
    const auto start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

inline std::string repeated(const std::string& piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
}

/// That four times the length takes less than ten times as long: the square would take sixteen times. One of
/// three tries is enough, as a busy machine only makes it slower. Under ThreadSanitizer, which finds nothing
/// in it and takes minutes, nothing is measured.
template <class Work>
void check_linear(const std::string& piece, std::size_t bytes, const Work& work) {
#ifdef EPILOGUE_THREAD_SANITIZER
    return;
#endif
    constexpr double factor = 10;
    constexpr double too_short_to_judge = 0.02;
    constexpr int tries = 3;
    const auto small = repeated(piece, bytes);
    const auto large = repeated(piece, 4 * bytes);
    double first = 0;
    double second = 1e9;
    for (int i = 0; i < tries; ++i) {
        second = std::min(second, seconds([&] { work(large); }));
        if (second < too_short_to_judge) return;
        first = std::max(first, seconds([&] { work(small); }));
        if (second < factor * first) return;
    }
    BOOST_ERROR(piece << ": " << first << " s, " << second << " s");
}

}  // namespace epilogue::growth
