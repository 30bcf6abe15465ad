// Logs of conversations as files, one for each event: what upstream's V0 (`ID/events/17.json`) and V1
// (`ID/events/event-00017-UUID.json`) keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace epilogue::relay {

struct PersistedEvent {
    std::filesystem::path file;
    std::int64_t number = 0;
    bool is_numbered_log = false;  ///< V1: the number is the event's index in the server's log
};

struct PersistedLog {
    ConversationId conversation_id;
    std::vector<PersistedEvent> events;  ///< by number
};

/// Folders at or below `place`, a file or a folder, that have such files. Errors: poison, it cannot be read
/// or has none.
Result<std::vector<std::filesystem::path>> folders_of_logs(const std::filesystem::path& place);

/// The log in that folder; of it only `file` when that is not empty. The conversation is named by the folder
/// above `events`. Errors: poison, the folder cannot be read.
Result<PersistedLog> persisted_log(const std::filesystem::path& folder,
                                   const std::filesystem::path& file = {});

}  // namespace epilogue::relay
