#include "agent/relay/persisted_logs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace epilogue::relay {
namespace {

namespace fs = std::filesystem;

/// nullopt: no event's file.
std::optional<PersistedEvent> event_of(const fs::path& file) {
    const std::string name = file.filename().string();
    std::string_view stem(name);
    if (!stem.ends_with(".json")) return std::nullopt;
    stem.remove_suffix(std::string_view(".json").size());
    constexpr std::string_view v1 = "event-";
    const bool is_v1 = stem.starts_with(v1);
    if (is_v1) {
        stem.remove_prefix(v1.size());
        stem = stem.substr(0, stem.find('-'));
    } else if (file.parent_path().filename() != "events") {
        return std::nullopt;  // any file may have a number for a name
    }
    const auto number = integer_in(stem);
    if (!number || *number < 0) return std::nullopt;
    return PersistedEvent{file, *number, is_v1};
}

Failure unreadable(const fs::path& place, const std::string& why) {
    return poisonous(place.string() + ": " + why);
}

}  // namespace

Result<std::vector<fs::path>> folders_of_logs(const fs::path& place) {
    std::error_code failure;
    const auto status = fs::status(place, failure);
    if (failure || !fs::exists(status)) return unreadable(place, "there is no such file or folder");
    std::set<fs::path> folders;
    if (fs::is_directory(status)) {
        fs::recursive_directory_iterator files(place, failure);
        for (; !failure && files != fs::recursive_directory_iterator(); files.increment(failure))
            if (event_of(files->path())) folders.insert(files->path().parent_path());
        if (failure) return unreadable(place, "cannot be read: " + failure.message());
    } else if (event_of(fs::absolute(place))) {
        folders.insert(fs::absolute(place).parent_path());
    }
    if (folders.empty()) return unreadable(place, "has no events: expected events/N.json or event-N-….json");
    return std::vector<fs::path>(folders.begin(), folders.end());
}

Result<PersistedLog> persisted_log(const fs::path& folder, const fs::path& file) {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    const fs::path named = whole.filename().empty() ? whole.parent_path() : whole;
    PersistedLog log;
    log.conversation_id = normalise_conversation_id(
        (named.filename() == "events" ? named.parent_path() : named).filename().string());
    std::error_code failure;
    fs::directory_iterator files(named, failure);
    for (; !failure && files != fs::directory_iterator(); files.increment(failure))
        if (auto event = event_of(files->path()))
            if (file.empty() || file.filename() == files->path().filename())
                log.events.push_back(std::move(*event));
    if (failure) return unreadable(folder, "cannot be read: " + failure.message());
    std::ranges::sort(log.events, {}, &PersistedEvent::number);
    return log;
}

}  // namespace epilogue::relay
