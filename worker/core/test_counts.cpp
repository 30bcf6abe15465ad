#include "worker/core/test_counts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.h"

namespace epilogue {
namespace {

using Number = std::optional<std::int64_t>;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The number right before a word: 3 for "failed" in "3 failed, 4 passed".
Number before(std::string_view line, std::string_view word) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        const std::size_t behind = at + word.size();
        if (behind < line.size() && is_letter(line[behind]) && line[behind] != 's') continue;
        std::size_t end = at;
        while (end > 0 && line[end - 1] == ' ') --end;
        std::size_t begin = end;
        while (begin > 0 && is_digit(line[begin - 1])) --begin;
        if (begin < end && end < at) return integer_in(line.substr(begin, end - begin));
    }
    return std::nullopt;
}

/// The number right behind a label: 1 for "Failures:" in "Failures: 1, Errors: 0".
Number behind(std::string_view line, std::string_view label) {
    const std::size_t at = line.find(label);
    if (at == std::string_view::npos) return std::nullopt;
    auto rest = line.substr(at + label.size());
    rest = rest.substr(std::min(rest.find_first_not_of(" ="), rest.size()));
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    return integer_in(digits);
}

/// "12 passed, 1 failed in 0.3s", also within '=' and in bars; each item a number and a known word.
std::optional<TestCounts> listed(std::string_view line) {
    constexpr std::array<std::string_view, 13> known{
        "passed",  "failed",  "skipped",    "error", "errors", "warning", "warnings",
        "xfailed", "xpassed", "deselected", "rerun", "todo",   "flaky"};
    line = line.substr(std::min(line.find_first_not_of("= "), line.size()));
    TestCounts counts;
    bool is_told = false;
    for (const std::string& item : split(line.substr(0, line.find_first_of("(=")), ',')) {
        const auto blank = item.find(' ');
        const auto number = integer_in(std::string_view(item).substr(0, blank));
        if (!number || blank == std::string::npos) return std::nullopt;
        const auto rest = trimmed(std::string_view(item).substr(blank));
        const auto word = rest.substr(0, rest.find(' '));
        const auto more = trimmed(rest.substr(word.size()));
        const bool is_known = std::ranges::find(known, word) != known.end();
        if (!is_known || !(more.empty() || more.starts_with("in "))) return std::nullopt;
        if (word == "passed") counts.passed = *number;
        if (word == "failed" || word.starts_with("error")) counts.failed += *number;
        if (word == "skipped") counts.skipped = *number;
        is_told = is_told || word == "passed" || word == "failed" || word.starts_with("error");
    }
    return is_told ? std::optional(counts) : std::nullopt;
}

/// jest: "Tests: 1 failed, 119 passed, 120 total"; vitest: "Tests  1 failed | 119 passed (120)".
std::optional<TestCounts> of_jest(std::string_view line) {
    const bool is_closing = line.starts_with("Tests:") || line.starts_with("Tests  ");
    const auto passed = before(line, "passed");
    const auto failed = before(line, "failed");
    if (!is_closing || (!passed && !failed)) return std::nullopt;
    return TestCounts{passed.value_or(0), failed.value_or(0), before(line, "skipped").value_or(0), false};
}

std::optional<TestCounts> of_ctest(std::string_view line) {
    const auto failed = before(line, "tests failed out of");
    const auto total = behind(line, "tests failed out of");
    if (!failed || !total || *failed > *total) return std::nullopt;
    return TestCounts{*total - *failed, *failed, 0, false};
}

/// nextest: "Summary [ 0.5s] 12 tests run: 11 passed, 1 failed, 2 skipped"; gotestsum: "DONE 12 tests, 1
/// failure in 0.5s".
std::optional<TestCounts> of_summary(std::string_view line) {
    if (line.starts_with("Summary [") && line.find("run:") != std::string_view::npos)
        return TestCounts{before(line, "passed").value_or(0), before(line, "failed").value_or(0),
                          before(line, "skipped").value_or(0), false};
    const auto total = before(line, "tests");
    if (!line.starts_with("DONE ") || !total) return std::nullopt;
    const std::int64_t failed = before(line, "failure").value_or(0) + before(line, "error").value_or(0);
    const std::int64_t skipped = before(line, "skipped").value_or(0);
    return TestCounts{std::max<std::int64_t>(0, *total - failed - skipped), failed, skipped, false};
}

std::optional<TestCounts> of_total(Number total, Number failures, Number errors, Number skipped) {
    if (!total) return std::nullopt;
    const std::int64_t failed = failures.value_or(0) + errors.value_or(0);
    return TestCounts{std::max<std::int64_t>(0, *total - failed - skipped.value_or(0)), failed,
                      skipped.value_or(0), false};
}

/// gradle: "12 tests completed, 1 failed"; rspec: "12 examples, 1 failure, 2 pending"; minitest: "12 runs, 30
/// assertions, 1 failures, 0 errors, 0 skips"; phpunit: "OK (12 tests, 30 assertions)" or "Tests: 12,
/// Assertions: 30, Failures: 1."; dotnet: "Failed: 0, Passed: 12, Skipped: 0".
std::optional<TestCounts> of_others(std::string_view line) {
    if (const auto total = before(line, "tests completed"))
        return of_total(total, before(line, "failed"), std::nullopt, before(line, "skipped"));
    if (const auto total = before(line, "examples"); total && before(line, "failure"))
        return of_total(total, before(line, "failure"), std::nullopt, before(line, "pending"));
    if (const auto total = before(line, "runs"); total && before(line, "assertions"))
        return of_total(total, before(line, "failures"), before(line, "errors"), before(line, "skips"));
    if (line.starts_with("OK (") && before(line, "assertion"))
        return of_total(before(line, "test"), std::nullopt, std::nullopt, std::nullopt);
    if (line.starts_with("Tests:") && behind(line, "Assertions:"))
        return of_total(behind(line, "Tests:"), behind(line, "Failures:"), behind(line, "Errors:"),
                        behind(line, "Skipped:"));
    if (const auto passed = behind(line, "Passed:"); passed && behind(line, "Total:"))
        return TestCounts{*passed, behind(line, "Failed:").value_or(0), behind(line, "Skipped:").value_or(0),
                          false};
    return std::nullopt;
}

/// What runners tell in many lines, added up.
class Sums {
  public:
    void read(std::string_view line) {
        cargo(line);
        maven(line);
        go(line);
        mocha(line);
        node(line);
        unittest(line);
    }
    std::optional<TestCounts> counts() const {
        for (const auto& sum : {unittest_, cargo_, maven_, go_tests_, go_packages_, mocha_, node_})
            if (sum) return sum;
        return std::nullopt;
    }

  private:
    static void add(std::optional<TestCounts>& sum, const TestCounts& more) {
        TestCounts& counts = sum ? *sum : sum.emplace();
        counts.passed += more.passed;
        counts.failed += more.failed;
        counts.skipped += more.skipped;
        counts.of_packages = more.of_packages;
    }
    void cargo(std::string_view line) {
        if (!line.starts_with("test result:")) return;
        add(cargo_, {before(line, "passed").value_or(0), before(line, "failed").value_or(0),
                     before(line, "ignored").value_or(0), false});
    }
    /// Lines of single classes have the time; those that add them up have none.
    void maven(std::string_view line) {
        const auto total = behind(line, "Tests run:");
        if (!total || line.find("Time elapsed") != std::string_view::npos || !behind(line, "Failures:"))
            return;
        if (const auto counts =
                of_total(total, behind(line, "Failures:"), behind(line, "Errors:"), behind(line, "Skipped:")))
            add(maven_, *counts);
    }
    void go(std::string_view line) {
        if (line.starts_with("--- PASS: ")) add(go_tests_, {1, 0, 0, false});
        // Without -v only those that failed are named: packages are told then.
        if (line.starts_with("--- FAIL: ")) ++go_failed_;
        if (line.starts_with("ok  \t") || line.starts_with("ok \t") || line.starts_with("ok      "))
            add(go_packages_, {1, 0, 0, true});
        if (line.starts_with("FAIL\t")) add(go_packages_, {0, 1, 0, true});
        if (go_tests_) go_tests_->failed = go_failed_;
    }
    void mocha(std::string_view line) {
        if (const auto passed = before(line, "passing"); passed && is_digit(line.front()))
            add(mocha_, {*passed, 0, 0, false});
        if (const auto failed = before(line, "failing"); failed && is_digit(line.front()) && mocha_)
            mocha_->failed += *failed;
    }
    void node(std::string_view line) {
        const auto mark = line.find(' ');
        if (mark == std::string_view::npos || (!line.starts_with("# ") && !line.starts_with("ℹ "))) return;
        const auto rest = line.substr(mark + 1);
        if (rest.starts_with("pass ")) add(node_, {integer_in(rest.substr(5)).value_or(0), 0, 0, false});
        if (rest.starts_with("fail ")) add(node_, {0, integer_in(rest.substr(5)).value_or(0), 0, false});
    }
    /// "Ran 5 tests in 0.01s", and "OK" or "FAILED (failures=1, errors=2)" behind it.
    void unittest(std::string_view line) {
        if (line.starts_with("Ran ") && line.find(" in ") != std::string_view::npos)
            ran_ = before(line, "test");
        if (!ran_) return;
        const bool failed = line.starts_with("FAILED (");
        if (!failed && line != "OK" && !line.starts_with("OK (")) return;
        unittest_ = of_total(ran_, behind(line, "failures"), behind(line, "errors"), behind(line, "skipped"));
        ran_.reset();
    }

    std::optional<TestCounts> unittest_, cargo_, maven_, go_tests_, go_packages_, mocha_, node_;
    std::int64_t go_failed_ = 0;
    Number ran_;
};

/// Without what log frameworks put before it: "[INFO] ", "[ERROR] ".
std::string_view bare_line(std::string_view line) {
    line = trimmed(line);
    for (const std::string_view prefix : {"[INFO] ", "[ERROR] ", "[WARNING] "})
        if (line.starts_with(prefix)) return trimmed(line.substr(prefix.size()));
    return line;
}

bool says_error(std::string_view line) {
    constexpr std::array<std::string_view, 12> signs{"error",     "fatal:",    "failed",  "exception",
                                                     "not found", "no such",   "denied",  "cannot",
                                                     "rejected",  "unable to", "refused", "fail:"};
    const std::string lower = lowered(line);
    return std::ranges::any_of(signs,
                               [&](std::string_view sign) { return lower.find(sign) != std::string::npos; });
}

}  // namespace

std::optional<TestCounts> counts_in(std::string_view output) {
    constexpr std::size_t longest_line = 1000;
    using Reader = std::optional<TestCounts> (*)(std::string_view line);
    constexpr std::array<Reader, 5> readers{&listed, &of_jest, &of_ctest, &of_summary, &of_others};
    std::optional<TestCounts> last;
    Sums sums;
    for (const std::string& whole : split(output, '\n')) {
        const std::string_view line = bare_line(std::string_view(whole).substr(0, longest_line));
        if (line.empty()) continue;
        sums.read(line);
        for (const Reader& read : readers)
            if (const auto counts = read(line)) {
                last = counts;
                break;
            }
    }
    return last ? last : sums.counts();
}

bool says_failure(std::string_view output) {
    constexpr std::array<std::string_view, 7> signs{"error:",     "error TS",   ": *** [", "build stopped",
                                                    "BUILD FAIL", "--- FAIL: ", "FAILED "};
    return std::ranges::any_of(
        signs, [&](std::string_view sign) { return output.find(sign) != std::string_view::npos; });
}

std::string error_line(std::string_view output) {
    const std::vector<std::string> lines = split(output, '\n');
    if (lines.empty()) return "";
    if (output.find("Traceback (most recent call last)") != std::string_view::npos) return lines.back();
    for (const std::string_view first : {"FAILED ", "E   ", "--- FAIL: ", "FAIL ", "! ["})
        for (const std::string& line : lines)
            if (line.starts_with(first)) return line;
    const auto named = std::ranges::find_if(lines, [](const std::string& line) {
        return line.find("error:") != std::string::npos || line.find("error TS") != std::string::npos;
    });
    if (named != lines.end()) return *named;
    const auto found = std::ranges::find_if(lines, says_error);
    return found != lines.end() ? *found : lines.back();
}

}  // namespace epilogue
