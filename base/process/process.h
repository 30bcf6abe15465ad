// Child processes that cannot outlive their parent.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/process/temp_dir.h"

namespace epilogue::process {

/// What to start.
struct Command {
    std::vector<std::string> argv;  ///< argv[0]: a path, or a name that find_program() knows
    /// Added to this process's environment; nullopt takes a variable away.
    std::map<std::string, std::optional<std::string>> environment{};
    std::filesystem::path folder{};  ///< working folder; empty: this process's
    std::string input{};             ///< standard input, whole
};

/// One running or ended child. The kernel kills it (SIGKILL) when this process ends in whatever way; the
/// destructor kills it together with the processes it started (those that stayed in its process group); until
/// then an ended one is a zombie. Not thread-safe; may be started, used and destroyed on any thread.
class Process {
  public:
    /// Starts the command. Throws std::runtime_error when the program is not there or cannot be run.
    explicit Process(const Command& command);
    ~Process();
    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// Its id, also after it has ended.
    pid_t pid() const { return pid_; }
    /// False once it has ended.
    bool running();
    /// Sends a signal to it alone; does nothing when it has ended.
    void signal(int number);
    /// Waits until it has ended, `deadline` at most (0: only looks). Returns its exit code, or minus the
    /// number of the signal that ended it; nullopt when it still runs.
    std::optional<int> wait(std::chrono::milliseconds deadline);
    /// SIGTERM, then as wait(). When it has not ended by the deadline it is killed, and std::runtime_error
    /// thrown.
    int stop(std::chrono::milliseconds deadline);
    /// SIGKILL, to it alone; returns when it has ended.
    void kill9();
    /// What it has written so far.
    std::string out() const;
    std::string err() const;

  private:
    std::unique_ptr<TempDir> streams_;  ///< files: in, out, err
    pid_t pid_ = -1;
    int pidfd_ = -1;
    std::optional<int> status_;
};

/// True when there is no such process, or only a zombie that its new parent has still to reap.
bool is_gone(pid_t pid);

/// A command that ran to its end.
struct Finished {
    int status = 0;  ///< as Process::wait
    std::string out;
    std::string err;
};

/// Runs the command to its end. Throws std::runtime_error, with the end of its output, when it has not ended
/// by the deadline (it is killed then), or could not be started.
Finished run(const Command& command, std::chrono::milliseconds deadline);

}  // namespace epilogue::process
