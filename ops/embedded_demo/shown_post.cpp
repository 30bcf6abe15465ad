#include "ops/embedded_demo/shown_post.h"

#include <string_view>

#include "base/text.h"
#include "ops/embedded_demo/scenario.h"

namespace epilogue::demo {
namespace {

std::string seen_text(const std::string& body) {
    return std::string(trimmed(std::string_view(body).substr(0, body.rfind("\n<!-- epilogue:"))));
}

Paint paint_of(const std::string& headline) {
    if (headline.starts_with("**Finished**")) return Paint::good;
    return headline.starts_with("**Waiting for you**") ? Paint::wait : Paint::bad;
}

}  // namespace

bool is_ours(const fake_platform::Comment& comment) {
    return comment.author == fake_platform::bot_login;
}

Post post_of(const fake_platform::Comment& comment) {
    return {name_of(Place{comment.platform, comment.place, comment.thread}), seen_text(comment.body)};
}

std::string_view title_of(const std::string& platform) {
    return platform == "github" ? "GitHub" : platform == "gitlab" ? "GitLab" : "Slack";
}

std::string boxed(const Terminal& terminal, const Post& post, const std::string& origin) {
    std::string text = terminal.painted(Paint::dim, "  ╭─ epilogue-bot commented on ") + post.place +
                       terminal.painted(Paint::dim, origin) + "\n";
    constexpr std::size_t margin = 4;
    bool first = true;
    for (const std::string& line : wrapped(post.text, terminal.width() - margin)) {
        text += terminal.painted(Paint::dim, line.empty() ? "  │" : "  │ ") +
                (first ? terminal.painted(paint_of(post.text), line) : line) + "\n";
        first = false;
    }
    return text + terminal.painted(Paint::dim, "  ╰─");
}

}  // namespace epilogue::demo
