#define BOOST_TEST_MODULE line_change
#include "schemas/line_change.h"

#include <string>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

std::string lines(const std::string& letters) {
    std::string text;
    for (const char letter : letters) text += std::string(1, letter) + "\n";
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lines_are_counted_as_a_diff_counts_them) {
    const auto change = [](const std::string& before, const std::string& after) {
        return line_change(lines(before), lines(after));
    };
    BOOST_TEST((change("", "abc") == LineChange{3, 0}));
    BOOST_TEST((change("abc", "") == LineChange{0, 3}));
    BOOST_TEST((change("abc", "abc") == LineChange{0, 0}));
    BOOST_TEST((change("abc", "axc") == LineChange{1, 1}));
    BOOST_TEST((change("abc", "axybc") == LineChange{2, 0}));
    BOOST_TEST((change("aaxbbycc", "aabbcc") == LineChange{0, 2}));
    BOOST_TEST((change("axbyc", "abzcw") == LineChange{2, 2}));
    BOOST_TEST((change("ababab", "bababa") == LineChange{1, 1}));
}

BOOST_AUTO_TEST_CASE(a_last_line_without_its_end_is_another_line) {
    BOOST_TEST((line_change("a\nb", "a\nb\n") == LineChange{1, 1}));
    BOOST_TEST((line_change("", "x") == LineChange{1, 0}));
}

BOOST_AUTO_TEST_CASE(of_very_long_stretches_all_lines_count) {
    std::string before;
    std::string after;
    for (int i = 0; i < 3000; ++i) {
        before += std::to_string(i) + "\n";
        after += std::to_string(i % 2 == 0 ? i : -i) + "\n";
    }
    BOOST_TEST((line_change(before, after) == LineChange{2999, 2999}));
    BOOST_TEST((line_change(before, before + "more\n") == LineChange{1, 0}));
}
