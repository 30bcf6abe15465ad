#include "base/process/programs.h"

#include <cstdlib>
#include <sstream>

#include <unistd.h>

namespace epilogue::process {

std::filesystem::path find_program(std::string_view name) {
    const char* const path = std::getenv("PATH");
    // Debian keeps servers in sbin, which is not in each user's PATH.
    std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (folder.empty()) continue;
        const auto candidate = std::filesystem::absolute(folder) / name;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

std::vector<std::string> missing_programs(const std::vector<std::string>& programs) {
    std::vector<std::string> missing;
    for (const auto& program : programs)
        if (find_program(program).empty()) missing.push_back(program);
    return missing;
}

}  // namespace epilogue::process
