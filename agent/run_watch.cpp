#include "agent/run_watch.h"

#include "agent/event.h"

namespace epilogue::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto old_status_stands = 30s;  // longer than a server that was restarted needs to begin a run
constexpr auto finished_stands = 250ms;  // a message that came during the last step takes it back within 3 ms
constexpr auto ask_while_standing = 100ms;
constexpr auto ask_without_socket = 1s;
constexpr auto ask_with_socket = 5s;  // a deleted conversation's socket stays open, and is silent

}  // namespace

void RunWatch::saw(std::string_view status, bool after_run) {
    told_ = status;
    if (status != before_ || after_run) moved_ = true;
}

bool RunWatch::confirm(std::string_view status, Clock::time_point now) {
    if (status != before_) moved_ = true;
    if (!ends_run(status)) {
        standing_since_.reset();
        return false;
    }
    if (!standing_since_ || standing_ != status) standing_since_ = now;
    standing_ = status;
    if (!moved_) return now - *standing_since_ >= old_status_stands;
    return status != "finished" || now - *standing_since_ >= finished_stands;
}

bool RunWatch::failed_by_socket() const {
    return moved_ && (told_ == "error" || told_ == "stuck");
}

RunWatch::Clock::time_point RunWatch::ask_next(Clock::time_point now, bool live) const {
    if (standing_since_) return now + ask_while_standing;
    if (!moved_ && ends_run(before_)) return now + ask_without_socket;  // perhaps there is nothing to do
    return now + (live ? ask_with_socket : ask_without_socket);
}

}  // namespace epilogue::agent
