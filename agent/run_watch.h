// When has a run ended? Decides from statuses that socket and REST tell; makes no request itself.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace epilogue::agent {

/// Watches one run. Pure, not thread-safe.
///
/// A status that ends a run counts only when REST confirms it: frames may be late, and a `finished` may be
/// taken back at once. Where the status has never moved since before the run was started, it may be the old
/// one: then it has to stand for a while, until a run that is about to begin would have shown itself.
class RunWatch {
  public:
    using Clock = std::chrono::steady_clock;

    /// `before`: the status before the run was started; "" when any end counts.
    explicit RunWatch(std::string before) : before_(std::move(before)) {}

    /// The socket told this status; `after_run`: with the snapshot that says that a run is over.
    void saw(std::string_view status, bool after_run = false);
    /// REST told this status at `now`. True when the run has ended with it.
    bool confirm(std::string_view status, Clock::time_point now);

    /// True when the socket's last word was `error` or `stuck` and nothing speaks against it: what there is
    /// to go by when REST cannot be asked.
    bool failed_by_socket() const;
    /// When REST should be asked again at the latest, with (`live`) or without a socket that stands.
    Clock::time_point ask_next(Clock::time_point now, bool live) const;

  private:
    std::string before_;
    std::string told_;
    bool moved_ = false;
    std::optional<Clock::time_point> standing_since_;
    std::string standing_;
};

}  // namespace epilogue::agent
