// Lines on standard error that no value can forge: one event is one line, whatever is in it.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/log_level.h"

namespace epilogue {

/// One value of a line, named. Never a secret.
struct LogField {
    LogField(std::string_view its_key, std::string text) : key(its_key), value(std::move(text)) {}
    /// In JSON a number without quotes.
    template <std::integral Number>
    LogField(std::string_view its_key, Number number)
        : key(its_key), value(std::to_string(number)), is_number(true) {}

    std::string_view key;
    std::string value;
    bool is_number = false;
};
using LogFields = std::vector<LogField>;

/// What is logged from now on, and how; before the first call: info and above, as text. Thread-safe.
void start_logging(LogLevel level, LogFormat format);

/// Writes one line. `message` says what happened in words that do not change; what changes goes into fields.
/// Thread-safe; never throws for what the values hold.
void log_debug(std::string_view message, const LogFields& fields = {});
void log_info(std::string_view message, const LogFields& fields = {});
void log_warn(std::string_view message, const LogFields& fields = {});
void log_error(std::string_view message, const LogFields& fields = {});

/// Writes one line of level info whatever the level is, whole and at once, for what is no message about the
/// program but its output. False when it could not be written whole: standard error is closed, say, or its
/// disk is full. Thread-safe.
bool log_output(std::string_view message, const LogFields& fields);

/// The line without its end, as text (`2026-11-21T08:13:42.407Z info message key=value other="two words"`) or
/// as JSON (members time, level, message, then the fields, of which numbers are numbers). Control characters,
/// line and paragraph separators and those that change the direction of text are escaped, bytes that are not
/// UTF-8 become U+FFFD.
std::string log_line(LogFormat format, Instant at, LogLevel level, std::string_view message,
                     const LogFields& fields);

/// Writes the same warning at most once in 10 s, for dependencies that stay away. Thread-safe.
class RateLimitedLog {
  public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;
    explicit RateLimitedLog(Clock clock = &std::chrono::steady_clock::now);

    /// Whether a line about `subject` (a fixed name of ours, such as "kafka") may be written now. Returns how
    /// many lines were left out since the last one, or nullopt when this one must be left out, too.
    std::optional<std::uint64_t> due(std::string_view subject);

    /// log_warn() when a line about `subject` is due; its field `held_back` counts the lines left out.
    void warn(std::string_view subject, std::string_view message, LogFields fields = {});

  private:
    struct LastLine {
        std::chrono::steady_clock::time_point at;
        std::uint64_t left_out = 0;  ///< since then
    };
    Clock clock_;
    std::mutex mutex_;
    std::map<std::string, LastLine, std::less<>> last_lines_;  ///< by subject
};

}  // namespace epilogue
