#include "schemas/line_change.h"

#include <algorithm>
#include <vector>

namespace epilogue {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1);
        lines.push_back(text.substr(0, end + 1));
        text.remove_prefix(end + 1);
    }
    return lines;
}

/// How many lines both have in the same order: the longest common subsequence.
std::size_t common_lines(const Lines& a, std::size_t from, std::size_t a_end, const Lines& b,
                         std::size_t b_end) {
    std::vector<std::size_t> row(b_end - from + 1, 0);
    for (std::size_t i = from; i < a_end; ++i) {
        std::size_t diagonal = 0;
        for (std::size_t j = from; j < b_end; ++j) {
            const std::size_t above = row[j - from + 1];
            row[j - from + 1] = a[i] == b[j] ? diagonal + 1 : std::max(above, row[j - from]);
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

LineChange line_change(std::string_view before, std::string_view after) {
    constexpr std::size_t max_cells = std::size_t{1} << 20U;
    const Lines a = lines_of(before);
    const Lines b = lines_of(after);
    std::size_t from = 0;
    while (from < a.size() && from < b.size() && a[from] == b[from]) ++from;
    std::size_t a_end = a.size();
    std::size_t b_end = b.size();
    while (a_end > from && b_end > from && a[a_end - 1] == b[b_end - 1]) --a_end, --b_end;
    const std::size_t kept =
        (a_end - from) * (b_end - from) <= max_cells ? common_lines(a, from, a_end, b, b_end) : 0;
    return {static_cast<std::int64_t>(b_end - from - kept), static_cast<std::int64_t>(a_end - from - kept)};
}

}  // namespace epilogue
