#define BOOST_TEST_MODULE test_counts
#include "worker/core/test_counts.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

std::string told(std::string_view output) {
    const auto counts = counts_in(output);
    if (!counts) return "none";
    return std::to_string(counts->passed) + "/" + std::to_string(counts->failed) + "/" +
           std::to_string(counts->skipped) + (counts->of_packages ? " packages" : "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(closing_lines_of_all_runners_are_read_as_passed_failed_skipped) {
    const std::vector<std::pair<std::string, std::string>> outputs{
        // pytest
        {"..F.\n=== 3 failed, 120 passed, 2 skipped in 12.30s ===", "120/3/2"},
        {"12 passed in 0.03s", "12/0/0"},
        {"1 failed, 4 passed", "4/1/0"},
        {"==== 1 passed, 2 warnings, 1 error in 0.2s ====", "1/1/0"},
        {"=== 2 xfailed, 5 passed, 3 deselected in 1s ===", "5/0/0"},
        // unittest
        {"Ran 5 tests in 0.010s\n\nOK", "5/0/0"},
        {"Ran 5 tests in 0.010s\n\nFAILED (failures=1, errors=2, skipped=1)", "1/3/1"},
        // ctest
        {"100% tests passed, 0 tests failed out of 212\n\nTotal Test time (real) =  31.02 sec", "212/0/0"},
        {"92% tests passed, 1 tests failed out of 12", "11/1/0"},
        // cargo, nextest
        {"test result: ok. 40 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 11 passed; 1 "
         "failed; 2 ignored",
         "51/1/3"},
        {"Summary [   0.5s] 12 tests run: 11 passed, 1 failed, 2 skipped", "11/1/2"},
        // go, gotestsum
        {"ok  \tx/a\t0.1s\nok  \tx/b\t(cached)\n?   \tx\t[no test files]", "2/0/0 packages"},
        {"--- FAIL: TestA (0.0s)\nFAIL\nFAIL\tx/a\t0.1s\nok  \tx/b\t0.1s\nFAIL", "1/1/0 packages"},
        {"--- PASS: TestA (0.0s)\n--- FAIL: TestB (0.0s)\n--- PASS: TestC (0.0s)\nFAIL\nFAIL\tx\t0.1s",
         "2/1/0"},
        {"DONE 12 tests, 2 skipped, 1 failure in 0.5s", "9/1/2"},
        // jest, vitest, mocha, node
        {"Test Suites: 1 failed, 12 passed, 13 total\nTests:       1 failed, 2 skipped, 119 passed, 122 "
         "total",
         "119/1/2"},
        {" Test Files  1 failed | 11 passed (12)\n      Tests  2 failed | 117 passed (119)", "117/2/0"},
        {"  12 passing (30ms)\n  1 failing", "12/1/0"},
        {"# tests 4\n# pass 3\n# fail 1", "3/1/0"},
        // maven, gradle
        {"[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\n[ERROR] Tests run: "
         "12, Failures: "
         "1, Errors: 1, Skipped: 2",
         "8/2/2"},
        {"12 tests completed, 1 failed, 2 skipped", "9/1/2"},
        // rspec, minitest, phpunit, dotnet
        {"12 examples, 1 failure, 2 pending", "9/1/2"},
        {"12 runs, 30 assertions, 1 failures, 0 errors, 1 skips", "10/1/1"},
        {"OK (12 tests, 30 assertions)", "12/0/0"},
        {"Tests: 20, Assertions: 55, Failures: 1, Errors: 1.", "18/2/0"},
        {"Passed!  - Failed:     0, Passed:    12, Skipped:     1, Total:    13", "12/0/1"}};
    for (const auto& [output, counts] : outputs) BOOST_TEST(told(output) == counts, output);
}

BOOST_AUTO_TEST_CASE(what_is_no_closing_line_has_no_counts) {
    for (const char* output : {"", "ok", "3 files changed", "I passed 3 exams", "passed", "0x12 passed away",
                               "12 passed the door", "tests passed", "99999999999999999999 passed"})
        BOOST_TEST(told(output) == "none", output);
}

BOOST_AUTO_TEST_CASE(of_several_runs_in_one_output_the_last_counts) {
    BOOST_TEST(told("1 failed, 4 passed in 1s\n5 passed in 1s") == "5/0/0");
}

BOOST_AUTO_TEST_CASE(the_line_that_says_best_what_went_wrong_is_found) {
    const std::vector<std::pair<std::string, std::string>> outputs{
        {"Traceback (most recent call last):\n  File \"x\"\nValueError: no", "ValueError: no"},
        {"F..\nE   assert 1 == 2\nFAILED tests/a.py::test_b - assert 1 == 2\n1 failed",
         "FAILED tests/a.py::test_b - assert 1 == 2"},
        {"[1/9] a.o\nFAILED: b.o\nb.cpp:4:1: error: expected ';'\nninja: build stopped",
         "b.cpp:4:1: error: expected ';'"},
        {"To x\n ! [rejected] a -> a (fetch first)\nerror: failed to push",
         "! [rejected] a -> a (fetch first)"},
        {"bash: foo: command not found", "bash: foo: command not found"},
        {"one\ntwo\n", "two"},
        {"", ""}};
    for (const auto& [output, line] : outputs) BOOST_TEST(error_line(output) == line, output);
}
