#include "base/io/log.h"

#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/details/console_globals.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view level_names[] = {"debug", "info", "warn", "error"};
constexpr spdlog::level::level_enum spdlog_levels[] = {spdlog::level::debug, spdlog::level::info,
                                                       spdlog::level::warn, spdlog::level::err};

std::atomic<LogFormat> chosen_format{LogFormat::text};

/// Never destroyed: threads may still log while the process ends.
spdlog::logger& logger() {
    static spdlog::logger& only = [&]() -> spdlog::logger& {
        auto* made = new spdlog::logger("epilogue", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made->set_pattern("%v");
        return *made;
    }();
    return only;
}

void write(LogLevel level, std::string_view message, const LogFields& fields) {
    const auto its_level = spdlog_levels[static_cast<std::size_t>(level)];
    if (!logger().should_log(its_level)) return;
    const auto now = system_now();
    const std::string line = log_line(chosen_format, now, level, message, fields);
    logger().log(its_level, spdlog::string_view_t(line.data(), line.size()));
}

/// Writes all of it to standard error; false when that failed. `written` becomes the number of bytes that
/// were.
bool write_whole(std::string_view text, std::size_t* written = nullptr) {
    constexpr int patience_ms = 1000;
    while (!text.empty()) {
        const ssize_t size = ::write(STDERR_FILENO, text.data(), text.size());
        if (size > 0) {
            text.remove_prefix(static_cast<std::size_t>(size));
            if (written != nullptr) *written += static_cast<std::size_t>(size);
            continue;
        }
        pollfd room{STDERR_FILENO, POLLOUT, 0};
        const bool may_go_on = errno == EINTR || (errno == EAGAIN && ::poll(&room, 1, patience_ms) == 1);
        if (!may_go_on) return false;
    }
    return true;
}

/// What a terminal or a log reader could take for a line end or a command, or would show in another order:
/// C0, DEL, C1, line and paragraph separators, direction marks and overrides.
bool is_dangerous(std::uint32_t code_point) {
    return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F) || code_point == 0x200E ||
           code_point == 0x200F || (code_point >= 0x2028 && code_point <= 0x202E) ||
           (code_point >= 0x2066 && code_point <= 0x2069);
}

/// The value of one well-formed code point.
std::uint32_t value_of(std::string_view code_point) {
    const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(code_point[i])}; };
    if (code_point.size() == 1) return byte(0);
    std::uint32_t value = byte(0) & (0x7FU >> code_point.size());
    for (std::size_t i = 1; i < code_point.size(); ++i) value = (value << 6U) | (byte(i) & 0x3FU);
    return value;
}

/// The first code point of `text`, which is not empty; empty when its bytes are not UTF-8.
std::string_view first_code_point(std::string_view text) {
    for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length)
        if (is_utf8(text.substr(0, length))) return text.substr(0, length);
    return {};
}

/// `text` as it may stand between the quotes of a JSON string. The text format uses the same form, so that
/// each escape can be read back in one way only.
std::string escaped(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::string_view code_point = first_code_point(text);
        text.remove_prefix(code_point.empty() ? 1 : code_point.size());
        if (code_point.empty())
            result += "\uFFFD";
        else if (code_point == "\"" || code_point == "\\")
            (result += '\\') += code_point;
        else if (code_point == "\n")
            result += "\\n";
        else if (const std::uint32_t value = value_of(code_point); is_dangerous(value))
            result += fmt::format("\\u{:04x}", value);
        else
            result += code_point;
    }
    return result;
}

/// ISO 8601 to the millisecond.
std::string time_of(Instant at) {
    const std::string time = to_iso(at);
    return time.substr(0, time.size() - 4) + "Z";
}

std::string text_value(std::string_view value) {
    const std::string safe = escaped(value);
    const bool bare = !safe.empty() && safe.find_first_of(" =\"\\") == std::string::npos;
    return bare ? safe : fmt::format("\"{}\"", safe);
}

}  // namespace

std::string log_line(LogFormat format, Instant at, LogLevel level, std::string_view message,
                     const LogFields& fields) {
    const std::string_view level_name = level_names[static_cast<std::size_t>(level)];
    if (format == LogFormat::text) {
        std::string line = fmt::format("{} {} {}", time_of(at), level_name, escaped(message));
        for (const LogField& field : fields)
            line += fmt::format(" {}={}", escaped(field.key), text_value(field.value));
        return line;
    }
    std::string line = fmt::format(R"({{"time":"{}","level":"{}","message":"{}")", time_of(at), level_name,
                                   escaped(message));
    for (const LogField& field : fields) {
        const std::string_view quote = field.is_number ? "" : "\"";
        line += fmt::format(R"(,"{}":{}{}{})", escaped(field.key), quote, escaped(field.value), quote);
    }
    return line + "}";
}

void start_logging(LogLevel level, LogFormat format) {
    chosen_format = format;
    logger().set_level(spdlog_levels[static_cast<std::size_t>(level)]);
}

void log_debug(std::string_view message, const LogFields& fields) {
    write(LogLevel::debug, message, fields);
}

void log_info(std::string_view message, const LogFields& fields) {
    write(LogLevel::info, message, fields);
}

void log_warn(std::string_view message, const LogFields& fields) {
    write(LogLevel::warn, message, fields);
}

void log_error(std::string_view message, const LogFields& fields) {
    write(LogLevel::error, message, fields);
}

bool log_output(std::string_view message, const LogFields& fields) {
    const std::string line = log_line(chosen_format, system_now(), LogLevel::info, message, fields) + "\n";
    // The one that the logger's own lines are written under.
    const std::lock_guard lock(spdlog::details::console_mutex::mutex());
    static bool was_cut = false;
    if (was_cut && !write_whole("\n")) return false;
    was_cut = false;
    std::size_t written = 0;
    const bool is_whole = write_whole(line, &written);
    was_cut = !is_whole && written > 0;
    return is_whole;
}

RateLimitedLog::RateLimitedLog(Clock clock) : clock_(std::move(clock)) {}

std::optional<std::uint64_t> RateLimitedLog::due(std::string_view subject) {
    const std::lock_guard lock(mutex_);
    const auto now = clock_();
    const auto [last, first] = last_lines_.try_emplace(std::string(subject), LastLine{now});
    if (first) return 0;
    if (now - last->second.at < std::chrono::seconds(10)) {
        ++last->second.left_out;
        return {};
    }
    last->second.at = now;
    return std::exchange(last->second.left_out, 0);
}

void RateLimitedLog::warn(std::string_view subject, std::string_view message, LogFields fields) {
    const auto left_out = due(subject);
    if (!left_out) return;
    if (*left_out > 0) fields.push_back({"held_back", *left_out});
    log_warn(message, fields);
}

}  // namespace epilogue
