// Starting a program, the part between fork and exec.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace epilogue::process {

struct Spawn {
    std::filesystem::path program;         ///< absolute
    std::vector<std::string> argv;         ///< with the program's name
    std::vector<std::string> environment;  ///< "NAME=value", all of it
    std::filesystem::path folder;          ///< working folder; empty: this process's
    std::filesystem::path in, out, err;    ///< files; out and err are created
};

/// Starts the program, leader of a process group of its own, with no other descriptor of ours; it gets
/// SIGKILL when this process ends. Returns its id. Throws std::system_error when it cannot be run.
/// Thread-safe.
pid_t spawn(const Spawn& what);

}  // namespace epilogue::process
