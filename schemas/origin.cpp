#include "schemas/origin.h"

#include <algorithm>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view before_origin = "<!-- epilogue:from ";
constexpr std::string_view behind_origin = " -->";
constexpr std::size_t max_origin_bytes = 512;  // as the places of deliveries

}  // namespace

bool is_origin(std::string_view text) {
    return !text.empty() && text.size() <= max_origin_bytes && std::ranges::none_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f;
    });
}

std::string origin_mark(std::string_view origin) {
    return std::string(before_origin).append(origin).append(behind_origin);
}

std::string_view origin_in(std::string_view text) {
    const std::string_view all = trimmed(text);
    if (!all.ends_with(behind_origin)) return {};
    const auto begin = all.rfind(before_origin);
    if (begin == std::string_view::npos) return {};
    const auto from = begin + before_origin.size();
    const auto end = all.size() - behind_origin.size();
    if (from > end) return {};
    const auto origin = all.substr(from, end - from);
    return is_origin(origin) ? origin : std::string_view();
}

}  // namespace epilogue
