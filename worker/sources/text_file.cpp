#include "worker/sources/text_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace epilogue {
namespace {

bool is_name(std::string_view word) {
    return !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

/// The first word in braces that is none of `placeholders`; "": there is none.
std::string_view unknown_placeholder(std::string_view text,
                                     const std::vector<std::string_view>& placeholders) {
    for (auto open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
        const auto close = text.find('}', open);
        if (close == std::string_view::npos) break;
        const auto word = text.substr(open + 1, close - open - 1);
        if (is_name(word) && std::ranges::find(placeholders, word) == placeholders.end()) return word;
    }
    return {};
}

Problem read_text(TextFile& file, const std::vector<std::string_view>& placeholders) {
    std::ifstream stream(file.path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    if (!stream) return fmt::format("cannot read {}", file.path);
    if (trimmed(text).empty()) return fmt::format("{} is empty", file.path);
    if (text.size() > max_text_file_bytes)
        return fmt::format("{} holds more than {} bytes", file.path, max_text_file_bytes);
    if (!is_utf8(text)) return fmt::format("{} is not UTF-8", file.path);
    const auto unknown = placeholders.empty() ? std::string_view() : unknown_placeholder(text, placeholders);
    if (!unknown.empty())
        return fmt::format("{} has the placeholder {{{}}}, expected one of {}", file.path, unknown,
                           fmt::join(placeholders, ", "));
    file.text = std::move(text);
    return {};
}

}  // namespace

ConfigKind text_file(ConfigPlace<TextFile> place, std::vector<std::string_view> placeholders) {
    ConfigKind kind = any_text([place](Config& config) -> std::string& { return place(config).path; });
    kind.expected = "the path of a file";
    kind.resolve = [=](Config& config, const Environment&) -> Problem {
        TextFile& file = place(config);
        return file.path.empty() ? Problem() : read_text(file, placeholders);
    };
    return kind;
}

}  // namespace epilogue
