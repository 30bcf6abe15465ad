// The program under test, as its users run it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/io/http.h"
#include "base/process/settings_file.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"
#include "tests/support/prometheus_text.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

class KafkaBroker;
class Database;
class FakePlatformProcess;

using process::merged;
using process::Setting;
using process::Settings;
using process::toml_of;

/// The settings that lead to a server of the harness.
Settings settings_for(const KafkaBroker& broker, const std::string& topic, const std::string& group);
Settings settings_for(const Database& server, const std::string& database);
/// Address and token of each platform.
Settings settings_for(const FakePlatformProcess& fake_platform);

/// A worker that was started. Not thread-safe.
class WorkerProcess {
  public:
    WorkerProcess(Process process, unsigned short port);

    Process& process() { return process_; }
    /// "http://127.0.0.1:PORT" + path: the operator endpoints.
    std::string url(const std::string& path = "") const;
    /// GET of a path; the answer may say that there was none.
    HttpAnswer get(const std::string& path) const;
    /// Returns when /readyz answers 200. Throws std::runtime_error, with the worker's log, when it ended or
    /// is not ready by the deadline.
    void wait_ready(std::chrono::milliseconds deadline);
    /// /metrics now. Throws std::runtime_error when it does not answer 200.
    Metrics metrics() const;

  private:
    Process process_;
    unsigned short port_;
    HttpClient http_;
};

/// One configuration, and the commands run with it. Nothing of this process's own EPILOGUE_… variables
/// reaches them. Thread-safe.
class Epilogue {
  public:
    /// Writes the settings to an epilogue.toml of its own.
    explicit Epilogue(const Settings& settings);

    std::filesystem::path config_file() const { return folder_.path() / "epilogue.toml"; }

    /// Runs `epilogue ARGS… --config FILE` to its end.
    Finished run(const std::vector<std::string>& args, const std::string& input = "",
                 std::chrono::milliseconds deadline = std::chrono::seconds(60)) const;
    /// Starts it; `environment` is added to this process's.
    Process start(const std::vector<std::string>& args,
                  const std::map<std::string, std::optional<std::string>>& environment = {}) const;
    /// Starts a worker with its operator endpoints on a free port, without waiting for it.
    WorkerProcess start_worker() const;
    /// The same, and waits until it is ready.
    WorkerProcess worker(std::chrono::milliseconds deadline = patience) const;

  private:
    Command command(const std::vector<std::string>& args) const;

    TempDir folder_;
};

}  // namespace epilogue::testing
