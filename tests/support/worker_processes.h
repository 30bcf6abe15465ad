// The workers of a rig as child processes: as many as there are places, each of which can be killed, paused
// or ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/epilogue.h"

namespace epilogue::testing {

/// A worker that is killed or ended here is replaced at once, in the same place. Not thread-safe.
class WorkerProcesses {
  public:
    /// Starts `places` workers. Where `logs` is not empty the log of each worker is left there.
    WorkerProcesses(Settings settings, std::size_t places, std::filesystem::path logs);
    ~WorkerProcesses();
    WorkerProcesses(const WorkerProcesses&) = delete;
    WorkerProcesses& operator=(const WorkerProcesses&) = delete;

    std::size_t places() const { return members_.size(); }
    /// Its client id in the group.
    const std::string& name(std::size_t place) const { return members_[place]->name; }
    std::set<std::string> names() const;
    /// Whether rows with this `owner` ("HOST:PID:…") are its own.
    bool owns(std::size_t place, const std::string& owner) const;

    /// SIGKILL to all of these at once; returns when they have ended and others are started.
    void kill9(const std::vector<std::size_t>& places);
    /// SIGSTOP and SIGCONT.
    void stop(std::size_t place);
    void go_on(std::size_t place);
    bool is_stopped(std::size_t place) const { return members_[place]->stopped; }
    std::chrono::steady_clock::duration stopped_for(std::size_t place) const;
    std::vector<std::size_t> running() const;

    /// SIGTERM, once it listens; the exit status, nullopt when it has not ended by the deadline (it is killed
    /// then).
    std::optional<int> terminate(std::size_t place, std::chrono::milliseconds deadline);
    /// Throws std::runtime_error, with the end of its log, when a worker ended by itself.
    void check_alive();

  private:
    struct Member {
        std::string name;
        Epilogue epilogue;
        WorkerProcess worker;
        bool stopped = false;
        std::chrono::steady_clock::time_point stopped_at{};
    };

    std::unique_ptr<Member> start(std::size_t place);
    void replace(std::size_t place);
    void keep_log(Member& member) const;

    const Settings settings_;
    const std::filesystem::path logs_;
    std::size_t started_ = 0;
    std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace epilogue::testing
