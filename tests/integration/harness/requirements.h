// Programs the suites need and do not bring along.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue::testing {

/// Absolute path of a program, looked up in PATH, /usr/sbin and /sbin; empty when there is none.
std::filesystem::path find_program(std::string_view name);

/// Returns when all `programs` are installed. Otherwise says which are missing and how to install them:
/// throws std::runtime_error, or, when EPILOGUE_ALLOW_SKIP is 1, ends the process with 77 (ctest: skipped).
void require_programs(const std::vector<std::string>& programs);

}  // namespace epilogue::testing
