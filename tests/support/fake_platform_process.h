// The fake platform as a program of its own, and its control API.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/io/http.h"
#include "tests/support/process.h"

namespace epilogue::testing {

/// A comment that exists on a platform.
struct VisibleComment {
    std::int64_t id = 0;
    std::string platform;  ///< "github"
    std::string path;      ///< on GitHub "owner/repo#7"
    std::string author;
    std::string body;
    std::string thread{};    ///< what it replies to, as ops/fake_platform/comment_store.h has it
    std::string metadata{};  ///< Slack: as JSON
};

/// A running fake platform. What its rules, counts and log mean stands in ops/fake_platform/control.h. Errors
/// are std::runtime_error. Thread-safe but for start and end.
class FakePlatformProcess {
  public:
    /// Starts the program on a free port and returns when it listens.
    FakePlatformProcess();

    /// "http://127.0.0.1:PORT" + path; GitHub's API is at "/github".
    std::string url(const std::string& path = "") const;
    unsigned short port() const { return port_; }
    pid_t pid() const { return process_.pid(); }

    /// An array of rules replaces the list, {"append": [...]} adds to it.
    void rules(const nlohmann::json& rules) const;
    /// Lets what is held answer, or with `drop` end without an answer.
    void release(bool drop = false) const;
    /// As new: no rules, no comments, no log.
    void reset() const;
    /// By name: attempts, applied, visible, held, held_total, held_applied_total, lookups.
    std::map<std::string, std::size_t> counts() const;
    /// Every comment that exists, by id.
    std::vector<VisibleComment> visible() const;
    /// Every request to a platform but the first `after`, oldest first.
    nlohmann::json log(std::size_t after = 0) const;
    /// Returns when at least `count` requests are held now, or another of the counts is at least that; throws
    /// GaveUp after `timeout`.
    void wait_held(std::size_t count, std::chrono::milliseconds timeout) const;
    void wait_for(const std::string& counted, std::size_t count, std::chrono::milliseconds timeout) const;

    /// One request to the control API, for all it can do besides: `path` below /_control, `body` null for
    /// none.
    nlohmann::json control(const std::string& method, const std::string& path, const nlohmann::json& body,
                           std::chrono::milliseconds timeout) const;

  private:
    Process process_;
    unsigned short port_;
    HttpClient http_;
};

}  // namespace epilogue::testing
