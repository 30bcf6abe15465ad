// `epilogue demo` as a newcomer runs it, for the suites about it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

/// A demo that was started, with a folder of its own for temporary files.
class DemoProcess {
  public:
    /// `args`: the whole command line.
    explicit DemoProcess(const std::vector<std::string>& args,
                         std::map<std::string, std::optional<std::string>> environment = {});

    Process& process() { return process_; }
    std::string out() const { return process_.out(); }
    /// Exit code; throws std::runtime_error when it has not ended within a minute, or what is given.
    int ended(std::chrono::milliseconds deadline = std::chrono::minutes(1));
    /// What it has left behind: files in its folder, and processes that still run and have that folder's name
    /// in their command line or environment, a line each.
    std::vector<std::string> left_behind() const;

  private:
    Command command(const std::vector<std::string>& args,
                    std::map<std::string, std::optional<std::string>> environment) const;

    TempDir folder_;
    Process process_;
};

/// The command line of the demo with these options.
std::vector<std::string> demo_command(const std::vector<std::string>& options = {});

/// The table at its end.
struct DemoTable {
    int conversations = 0;
    int turns = 0;
    int posts = 0;
    int duplicates = 0;
    int lost = 0;
};
/// The last table in what it printed; throws std::runtime_error when there is none.
DemoTable demo_table(const std::string& out);

}  // namespace epilogue::testing
