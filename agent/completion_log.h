// Logs of LLM calls that a server sends as events, written to the folders that the caller names.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agent/event.h"

namespace epilogue::agent {

/// Where the logs of each LLM go, by its usage id.
using CompletionLogs = std::map<std::string, std::filesystem::path>;

/// Writes the log that `event` holds, when it holds one and its LLM's are wanted. Returns what went wrong, ""
/// when nothing did. The server names the file: a name that leads out of the folder is refused.
std::string write_completion_log(const RemoteEvent& event, const CompletionLogs& folders);

}  // namespace epilogue::agent
