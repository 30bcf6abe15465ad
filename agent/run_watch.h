// When has a run ended? Decides from statuses that socket and REST tell; makes no request itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace epilogue::agent {

/// Watches one run. Pure, not thread-safe.
///
/// A run has ended when the socket tells the snapshot that a server sends then: over() has its status. Else a
/// status that ends a run counts only when REST confirms it: frames may be late, and a `finished` may be
/// taken back at once. Where the status has never moved since before the run was started, it may be the old
/// one: then it has to stand for a while, until a run that is about to begin would have shown itself. Where
/// there are stop hooks, `finished` may stand and be taken back by one of them: it counts once all have let
/// it pass. While a `/goal` loop goes on `finished` and `stuck` end a round, and the next begins by itself.
class RunWatch {
  public:
    using Clock = std::chrono::steady_clock;

    /// As the status before a run: an end of the run before, which may still be told.
    static constexpr std::string_view an_end = "an end";

    /// `before`: the status before the run was started; "" when any end counts. `newest`: the server's time
    /// of the newest status that was told before; an older snapshot is of another run.
    explicit RunWatch(std::string before, std::string newest = "")
        : before_(std::move(before)), newest_(std::move(newest)) {}

    /// How many stop hooks the conversation has.
    void expect_stop_hooks(std::size_t count) { stop_hooks_ = count; }

    /// The socket told this status at the server's time `timestamp`; `after_run`: with the snapshot that says
    /// that a run is over.
    void saw(std::string_view status, bool after_run = false, std::string_view timestamp = {});
    /// A `/goal` loop goes on, or has ended.
    void goal(bool goes_on);
    /// The status that the run has ended with, by the socket's word; nullopt while it says none. A snapshot
    /// that may be that of the run before says none.
    std::optional<std::string> over() const;

    /// REST told this status at `now`, when so many stop hooks had let the end pass. True when the run has
    /// ended with it.
    bool confirm(std::string_view status, Clock::time_point now, std::size_t hooks_passed = 0);
    /// REST could not be asked, or did not answer.
    void failed() { ++failures_; }

    /// `error` or `stuck` when that was the socket's last word and nothing speaks against it: what there is
    /// to go by when REST cannot be asked.
    std::optional<std::string> failed_by_socket() const;
    /// When REST should be asked again at the latest, with (`live`) or without a socket that stands.
    Clock::time_point ask_next(Clock::time_point now, bool live) const;
    /// The same after the socket told an end: soon, but a little later than the snapshot should come.
    static Clock::time_point ask_after_end(Clock::time_point now);

  private:
    /// True when that may be what stood before the run was started.
    bool may_be_old(std::string_view status) const;
    /// True when that status ends no more than a round of a loop.
    bool ends_round(std::string_view status) const;

    std::string before_;
    std::string told_;
    std::string newest_;  ///< timestamp
    std::optional<std::string> over_;
    bool moved_ = false;
    bool waits_for_hook_ = false;
    bool goal_goes_on_ = false;
    bool waits_for_goal_ = false;
    std::size_t stop_hooks_ = 0;
    int failures_ = 0;  ///< of REST, in a row
    std::optional<Clock::time_point> standing_since_;
    std::string standing_;
};

}  // namespace epilogue::agent
