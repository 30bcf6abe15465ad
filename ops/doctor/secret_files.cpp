#include "ops/doctor/secret_files.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace epilogue::doctor {
namespace {

std::set<std::string> files_of(const Config& config) {
    std::set<std::string> files(config.secret_files.begin(), config.secret_files.end());
    for (const char* name : {"ssl.key.location", "ssl.keystore.location"})
        if (const auto found = config.kafka.properties.find(name); found != config.kafka.properties.end())
            files.insert(found->second);
    if (!config.database.tls_key.empty()) files.insert(config.database.tls_key);
    return files;
}

/// False, too, when it cannot be told: reading the configuration says what is wrong with the file.
bool is_readable_by_all(const std::string& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    return !error &&
           (status.permissions() & std::filesystem::perms::others_read) != std::filesystem::perms::none;
}

}  // namespace

Findings judge_secret_files(const Config& config) {
    const auto files = files_of(config);
    Findings findings;
    for (const std::string& file : files)
        if (is_readable_by_all(file))
            findings.push_back({Severity::warning, "keys", "files",
                                "every user of this machine may read the secret in " + file,
                                "chmod o-r " + file});
    if (findings.empty() && !files.empty())
        findings.push_back({Severity::ok, "keys", "files",
                            fmt::format("files with secrets, closed to others: {}", files.size()), ""});
    return findings;
}

}  // namespace epilogue::doctor
