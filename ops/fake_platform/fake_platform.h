// The platform itself: a request meets the rules, what it did is logged, and calls that wait are woken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "ops/fake_platform/comment_store.h"
#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

class RuleBook;
struct PlatformApi;
struct Fault;

struct Counts {
    std::size_t attempts = 0;    ///< POST requests to a platform that post, whatever became of them
    std::size_t applied = 0;     ///< comments they made, also those removed since; suppressed ones not
    std::size_t visible = 0;     ///< comments that exist now, of all authors
    std::size_t held = 0;        ///< requests held now
    std::size_t held_total = 0;  ///< requests ever held
    std::size_t held_applied_total = 0;  ///< those of them that had been applied before
    std::size_t lookups = 0;             ///< GET requests to a platform
};

/// One request to a platform.
struct LogEntry {
    std::size_t n = 0;  ///< from 1
    Instant at{};
    std::string method;
    std::string path;
    std::string query;
    std::string body;
    std::string action;  ///< the fault it met, as rules spell it; "": none
    bool applied = false;
    std::vector<std::int64_t> made{};  ///< the comments that it made
    bool held = false;
    std::optional<int> status;  ///< what was answered, in whole
};

/// Thread-safe.
class FakePlatform {
  public:
    FakePlatform();
    ~FakePlatform();
    FakePlatform(const FakePlatform&) = delete;
    FakePlatform& operator=(const FakePlatform&) = delete;

    /// Serves one request to a platform, with the fault that is due for it; blocks while a rule holds it.
    Reply handle(const Request& request);

    /// Reads rules as RuleBook::read does: an array replaces, {"append": [...]} adds. Throws
    /// std::invalid_argument.
    void rules(std::string_view json);
    /// Lets every held request answer (one of "hang" is applied now), or with `drop` end without an answer.
    /// None of them counts as held when it returns.
    void release(bool drop = false);
    /// Only these tokens are accepted from now on; none: any that is not empty.
    void accept_tokens(std::set<std::string> tokens);
    /// Every token of the platform may do this from now on, no more.
    void set_scopes(const std::string& platform, std::string scopes);
    /// Sets the state of an issue, `place` as "owner/repo#7".
    void set_place(const std::string& platform, const std::string& place, PlaceState state);
    /// Looks at the App that GitHub knows, or changes it.
    void with_app(const std::function<void(GithubApp&)>& use);
    /// Adds a comment past the API, by any author; returns its id.
    std::int64_t seed(Comment comment);
    /// Edits and removes as a person would; false when there is no such comment.
    bool edit(std::int64_t id, std::string body);
    bool remove(std::int64_t id);
    /// What is hidden from lists shows up so much sooner: for tests that do not wait.
    void pass(Micros time);
    /// As new: no rules, comments, log, tokens; held requests are dropped.
    void reset();

    Counts counts() const;
    std::vector<LogEntry> log() const;
    /// Every comment that exists, by id. Comments of "hide" count: the platform has them, its lists lag.
    std::vector<Comment> visible() const;
    /// Blocks until `reached` holds for the counts; false when `timeout` outcome or the platform closed
    /// before.
    bool wait_until(const std::function<bool(const Counts&)>& reached,
                    std::chrono::milliseconds timeout) const;

    /// Drops held requests and ends every wait, for good.
    void close();

  private:
    struct Held;
    using Entry = std::shared_ptr<LogEntry>;

    Entry log_request(const Request& request);
    Reply serve_with_fault(std::unique_lock<std::mutex>& lock, const PlatformApi& api, const Request& request,
                           const Fault& fault, const Entry& entry);
    Reply serve(const PlatformApi& api, const Request& request, LogEntry& entry);
    Reply hide(const PlatformApi& api, const Request& request, const Fault& fault, LogEntry& entry);
    Reply suppress(const PlatformApi& api, const Request& request);
    Reply hold(std::unique_lock<std::mutex>& lock, const Request& request, const Entry& entry,
               const std::function<Reply()>& answer);
    Reply answer_late(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait, Reply reply);
    void release_locked(bool drop);
    Counts counts_locked() const;

    mutable std::mutex mutex_;  // guards all of it
    mutable std::condition_variable changed_;
    CommentStore store_;
    std::unique_ptr<RuleBook> rules_;
    std::vector<Entry> log_;
    std::set<std::shared_ptr<Held>> held_;
    Counts totals_;  // without `visible` and `held`, which counts() adds
    bool closed_ = false;
};

}  // namespace epilogue::fake_platform
