#include "ops/embedded_demo/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace epilogue::demo {
namespace {

constexpr std::size_t usual_width = 80;
constexpr std::size_t narrowest = 40;
constexpr std::size_t widest = 100;

bool wants_no_colours() {
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const term = std::getenv("TERM");
    return (no_color != nullptr && *no_color != '\0') ||
           (term != nullptr && std::string_view(term) == "dumb");
}

std::size_t width_of_terminal() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_width;
    return std::clamp(std::size_t{size.ws_col}, narrowest, widest);
}

std::string_view code_of(Paint paint) {
    switch (paint) {
        case Paint::bold:
            return "\x1b[1m";
        case Paint::dim:
            return "\x1b[2m";
        case Paint::good:
            return "\x1b[1;32m";
        case Paint::bad:
            return "\x1b[1;31m";
        case Paint::wait:
            return "\x1b[1;33m";
    }
    return "";
}

/// The first `count` characters of UTF-8 text, in bytes.
std::size_t bytes_of(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
        if (begins && count-- == 0) break;
    }
    return at;
}

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& lines) {
    while (code_points(line) > width) {
        const std::size_t limit = bytes_of(line, width);
        const std::size_t space = line.substr(0, limit + 1).rfind(' ');
        const bool breakable = space != std::string_view::npos && space > 0;
        lines.emplace_back(line.substr(0, breakable ? space : limit));
        line.remove_prefix(breakable ? space + 1 : limit);
    }
    lines.emplace_back(line);
}

}  // namespace

Terminal::Terminal()
    : is_terminal_(::isatty(STDOUT_FILENO) == 1),
      colours_(is_terminal_ && !wants_no_colours()),
      width_(is_terminal_ ? width_of_terminal() : usual_width) {}

Terminal::~Terminal() {
    progress("");
}

void Terminal::write(std::string_view text) const {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void Terminal::say(std::string_view text) {
    const std::string standing = progress_;
    progress("");
    write(std::string(text) + "\n");
    progress(standing);
}

void Terminal::progress(const std::string& text) {
    if (!is_terminal_ || text == progress_) return;
    // Without escape codes, so that NO_COLOR has none: the old line is overwritten with spaces.
    const std::string line = "\r" + std::string(code_points(progress_), ' ') + "\r";
    progress_ = text.substr(0, bytes_of(text, width_ - 1));
    write(line + progress_);
}

std::string Terminal::painted(Paint paint, std::string_view text) const {
    if (!colours_ || text.empty()) return std::string(text);
    return std::string(code_of(paint)) + std::string(text) + "\x1b[0m";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    std::string clean(text);
    std::replace_if(
        clean.begin(), clean.end(),
        [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == '\x7F'; }, ' ');
    std::size_t at = 0;
    while (at <= clean.size()) {
        const std::size_t end = std::min(clean.find('\n', at), clean.size());
        wrap_line(std::string_view(clean).substr(at, end - at), width, lines);
        at = end + 1;
    }
    return lines;
}

}  // namespace epilogue::demo
