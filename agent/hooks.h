// Commands that run on this machine when a session with a conversation begins and ends, configured as
// upstream's .openhands/hooks.json. A remote conversation cannot run the other kinds of hooks.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/error.h"

namespace epilogue::agent {

struct Hook {
    std::string command;  ///< for a shell
    std::chrono::seconds timeout{60};
};

struct HookConfig {
    std::vector<Hook> session_start;
    std::vector<Hook> session_end;
    std::vector<std::string> not_run;  ///< names of configured kinds that a remote conversation cannot run
};

/// Reads {"hooks": {"SessionStart": [{"matcher": "*", "hooks": [{"type": "command", "command": …, "timeout":
/// 60}]}], …}}; kinds may also be written session_start, and stand without the outer "hooks", as newer
/// versions have it.
AgentResult<HookConfig> parse_hooks(std::string_view json);

/// How one command ended.
struct HookOutcome {
    std::string command;
    int status = 0;     ///< exit code; negative: a signal, or it did not end in time
    std::string error;  ///< what went wrong, with the end of its standard error; "" when it exited with 0
};

/// Runs the hooks of one kind ("SessionStart" or "SessionEnd") one after the other in `folder`. Each reads
/// the event as JSON on its standard input. The first that exits with 2 ends it: it blocks the others. Never
/// throws.
std::vector<HookOutcome> run_hooks(const std::vector<Hook>& hooks, std::string_view event_type,
                                   const std::string& conversation_id, const std::filesystem::path& folder);

}  // namespace epilogue::agent
