#include "ops/cli/relay_once.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "ops/relay/once.h"

namespace epilogue::cli {
namespace {

using namespace std::chrono_literals;

/// Says on standard error how far it is: in a terminal one line that changes, else a line now and then.
class ProgressLine {
  public:
    ~ProgressLine() { clear(); }
    ProgressLine() = default;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void operator()(const OnceProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        if (now - said_ < (is_terminal_ ? 100ms : 2000ms)) return;
        said_ = now;
        auto text = fmt::format("{} of {} conversations, {} events", progress.over, progress.conversations,
                                progress.events);
        if (progress.behind > 0) text += fmt::format(", {} to come", progress.behind);
        if (is_terminal_)
            fmt::print(stderr, "\r\x1b[K{} {}", bar(progress), text);
        else
            fmt::print(stderr, "epilogue: {}\n", text);
        is_shown_ = is_terminal_;
    }
    void clear() {
        if (std::exchange(is_shown_, false)) fmt::print(stderr, "\r\x1b[K");
    }

  private:
    /// Of events where it is known how many there are to come, else of conversations.
    static std::string bar(const OnceProgress& progress) {
        constexpr std::size_t width = 30;
        const bool by_events = progress.behind > 0;
        const double all = by_events ? static_cast<double>(progress.events + progress.behind)
                                     : static_cast<double>(progress.conversations);
        const double done =
            by_events ? static_cast<double>(progress.events) : static_cast<double>(progress.over);
        const auto full = all > 0 ? static_cast<std::size_t>(width * done / all) : width;
        return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
    }

    const bool is_terminal_ = isatty(STDERR_FILENO) == 1;
    bool is_shown_ = false;
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

OnceReport value_of(Result<OnceReport> report, const RelayOnce& once, const Common& common) {
    if (report) return std::move(*report);
    const Error& error = report.error();
    if (error.remedy == Remedy::fatal) refuse_configuration(common, error);
    throw Exit{error.remedy == Remedy::poison ? usage : unavailable,
               "--once " + once.from + ": " + error.text};
}

}  // namespace

void relay_once(const Config& config, const RelayOnce& once, const Common& common) {
    const bool is_url = once.from.starts_with("http://") || once.from.starts_with("https://");
    const Secret key = once.key.empty() ? Secret() : secret_at("--key", once.key);
    ProgressLine progress;
    const auto on_progress = [&](const OnceProgress& now) { progress(now); };
    const OnceReport report = [&] {
        if (!is_url) return value_of(relay_files_once(config, once.from, on_progress), once, common);
        const auto server = parse_once_server(once.from);
        if (!server) throw Exit{usage, "--once " + once.from + ": " + server.error().text};
        return value_of(relay_server_once(config, *server, key, on_progress), once, common);
    }();
    progress.clear();
    fmt::print("{} of {} conversations, {} events acknowledged\n", report.came.over,
               report.came.conversations, report.came.events);
    for (const std::string& failure : report.failures) fmt::print(stderr, "epilogue: {}\n", failure);
    if (!report.failures.empty()) throw Exit{failed, ""};
}

}  // namespace epilogue::cli
