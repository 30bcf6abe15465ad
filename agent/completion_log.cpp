#include "agent/completion_log.h"

#include <fstream>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"

namespace epilogue::agent {
namespace {

bool is_plain_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

}  // namespace

std::string write_completion_log(const RemoteEvent& event, const CompletionLogs& folders) {
    if (event.kind != "LLMCompletionLogEvent") return "";
    const Json log = parse_ordered_json(event.json);
    const auto folder = folders.find(string_in(log, "usage_id"));
    if (folder == folders.end()) return "";
    const std::string name = string_in(log, "filename");
    if (!is_plain_name(name)) return "the server names a file outside the folder for completion logs";
    std::error_code fault;
    std::filesystem::create_directories(folder->second, fault);
    const std::filesystem::path path = folder->second / name;
    // A symbolic link in the folder would lead out of it, too.
    if (std::filesystem::is_symlink(path, fault)) return path.string() + " is a link";
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << string_in(log, "log_data");
    file.close();
    return file ? "" : path.string() + " cannot be written";
}

}  // namespace epilogue::agent
