// The client of OpenHands' own SDK, driven by tests/agent/python_client.py.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/agent/real_server.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

using SystemTime = std::chrono::system_clock::time_point;

/// One process with a client for each row. Thread-safe.
class SdkClient {
  public:
    /// Of the version in `home`'s environment. `rows`: as python_client.py has them; "between" and "go_on"
    /// are made here where they are true.
    SdkClient(const RealServer& home, nlohmann::json rows);

    /// Waits until it has created its conversations: 1.7.3 fails others while it creates one.
    void wait_ready();
    /// Waits until the first of two runs has ended.
    void wait_between(const std::string& row);
    /// Lets it go on behind that.
    void go_on(const std::string& row) const;
    /// Lets it do its turn `number` of several, and returns when that run returned.
    SystemTime turn(const std::string& row, int number);
    /// How the row ended.
    nlohmann::json wait_result(const std::string& row);

  private:
    std::string file_of(const std::string& row) const { return (folder_.path() / row).string(); }
    std::optional<std::string> line_with(const std::string& beginning);
    std::optional<nlohmann::json> result_of(const std::string& row);

    TempDir folder_;
    std::mutex mutex_;  ///< the process is not for several threads
    std::unique_ptr<Process> process_;
};

}  // namespace epilogue::testing
