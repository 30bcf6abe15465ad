// Programs of the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue::process {

/// Absolute path of a program, looked up in PATH, /usr/sbin and /sbin; empty when there is none.
std::filesystem::path find_program(std::string_view name);

/// Those of `programs` that find_program does not find.
std::vector<std::string> missing_programs(const std::vector<std::string>& programs);

}  // namespace epilogue::process
