// How many tests passed and failed, by the closing lines of their runners.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace epilogue {

struct TestCounts {
    std::int64_t passed = 0;
    std::int64_t failed = 0;  ///< with those that ended in an error
    std::int64_t skipped = 0;
    bool of_packages = false;  ///< `go test` tells packages, not tests
    bool operator==(const TestCounts&) const = default;
};

/// Those in the closing lines of pytest, unittest, ctest, cargo (nextest as well), go (gotestsum as well),
/// jest, vitest, mocha, node, maven, gradle, rspec, phpunit, minitest and dotnet; nullopt: there are none.
std::optional<TestCounts> counts_in(std::string_view output);

/// Whether a run without counts says that it failed: a compiler's error, make's, ninja's or maven's last
/// word.
bool says_failure(std::string_view output);

/// The line that says best what went wrong, trimmed; "" when the output has no line at all.
std::string error_line(std::string_view output);

}  // namespace epilogue
