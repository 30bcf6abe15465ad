#include "tests/integration/harness/requirements.h"

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace epilogue::testing {
namespace {

constexpr int skipped = 77;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path find_program(std::string_view name) {
    // Debian keeps servers in sbin, which is not in everybody's PATH.
    std::istringstream folders(variable("PATH") + ":/usr/sbin:/sbin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (folder.empty()) continue;
        const auto candidate = std::filesystem::absolute(folder) / name;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

void require_programs(const std::vector<std::string>& programs) {
    std::string missing;
    for (const auto& program : programs)
        if (find_program(program).empty()) missing += (missing.empty() ? "" : ", ") + program;
    if (missing.empty()) return;
    const std::string message = "missing: " + missing + " (install with: ops/setup test)";
    if (variable("EPILOGUE_ALLOW_SKIP") != "1") throw std::runtime_error(message);
    std::cerr << "skipped, " << message << std::endl;
    std::exit(skipped);
}

}  // namespace epilogue::testing
