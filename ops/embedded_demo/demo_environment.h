// Everything the demo needs, on this machine alone: broker, database, platform, and two workers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/process/database_server.h"
#include "base/process/settings_file.h"
#include "base/process/temp_dir.h"
#include "ops/embedded_demo/embedded_broker.h"
#include "ops/embedded_demo/log_file.h"
#include "ops/embedded_demo/scenario.h"
#include "ops/fake_platform/fake_platform_server.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue::demo {

/// Lives from construction to destruction and leaves nothing behind: no process, no folder. The log lines of
/// all its parts go to log_file(). Errors are std::runtime_error. Used by one thread.
class DemoEnvironment {
  public:
    /// Starts all but the workers. `progress` is called with what is being done. `more`: settings beside
    /// those that say where its parts are.
    explicit DemoEnvironment(const std::function<void(const std::string&)>& progress,
                             const process::Settings& more = {});
    /// Drains the workers, then ends the servers and removes the folder.
    ~DemoEnvironment();
    DemoEnvironment(const DemoEnvironment&) = delete;
    DemoEnvironment& operator=(const DemoEnvironment&) = delete;

    /// What the workers run with; config_file() says the same to other programs.
    const Config& config() const { return config_; }
    std::filesystem::path config_file() const { return folder_.path() / "epilogue.toml"; }
    std::filesystem::path log_file() const { return folder_.path() / "epilogue.log"; }
    FakePlatformServer& platform() { return platform_; }
    /// "127.0.0.1:PORT" of each worker's operator endpoints.
    const std::vector<std::string>& workers() const { return endpoints_; }

    /// Begins, as a person, the threads in which posts are expected, and stores their ids in the scenarios.
    void open_threads(std::vector<Scenario>& scenarios);
    /// Asks for a post at the scenario's place at every end of its conversation.
    void register_callback(const Scenario& scenario);

    /// Starts the workers; returns once each partition belongs to one of them, or when `stop` is asked.
    void start_workers(const std::stop_token& stop);
    /// Why a worker ended before it was asked to; empty: none did.
    std::string trouble() const;

    /// How many posts Epilogue takes for done: nothing more comes of these.
    std::size_t posts_done();
    /// Whether the conversation's post was found by a look-up or answered for: its ledger row says SENT.
    bool is_sent(const Scenario& scenario);

  private:
    void write_config_file(const process::Settings& more) const;
    std::int64_t count(const std::string& sql, const std::vector<SqlValue>& values = {});

    process::TempDir folder_;
    LogFile log_;
    std::unique_ptr<EmbeddedBroker> broker_;
    process::DatabaseServer database_;
    FakePlatformServer platform_;
    std::vector<std::string> endpoints_;
    Config config_;
    std::unique_ptr<MysqlStore> store_;
    mutable std::mutex mutex_;  // guards trouble_
    std::string trouble_;
    std::vector<std::jthread> workers_;
};

}  // namespace epilogue::demo
