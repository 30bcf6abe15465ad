#include "tests/support/requirements.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace epilogue::testing {
namespace {

constexpr int skipped = 77;

bool may_skip() {
    const char* const allowed = std::getenv("EPILOGUE_ALLOW_SKIP");
    return allowed != nullptr && std::string_view(allowed) == "1";
}

}  // namespace

void require_programs(const std::vector<std::string>& programs) {
    std::string missing;
    for (const auto& program : process::missing_programs(programs))
        missing += (missing.empty() ? "" : ", ") + program;
    if (missing.empty()) return;
    const std::string message = "missing: " + missing + " (install with: ops/setup test)";
    if (!may_skip()) throw std::runtime_error(message);
    std::cerr << "skipped, " << message << std::endl;
    std::exit(skipped);
}

}  // namespace epilogue::testing
