// Characters that a reader does not see, or that turn a line around: what secrets and mentions are hidden
// with.
#pragma once

#include <array>
#include <utility>

namespace epilogue {

/// Ranges of code points, ascending.
constexpr std::array<std::pair<char32_t, char32_t>, 15> unseen_ranges{{
    {0x00, 0x08},        // controls; \t and \n stay
    {0x0B, 0x1F},        //
    {0x7F, 0x9F},        // DEL and C1, where terminals look for CSI
    {0xAD, 0xAD},        // soft hyphen
    {0x34F, 0x34F},      // combining grapheme joiner
    {0x61C, 0x61C},      // Arabic letter mark
    {0x115F, 0x1160},    // Hangul fillers
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // zero-width space and joiners, direction marks
    {0x202A, 0x202E},    // bidirectional embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, bidirectional isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xFEFF, 0xFEFF},    // zero-width no-break space
    {0xFFF9, 0xFFFB},    // interlinear annotation
    {0xE0000, 0xE007F},  // tags
}};

/// Whether a code point is one of them.
constexpr bool is_unseen(char32_t point) {
    for (const auto& [first, last] : unseen_ranges)
        if (point >= first && point <= last) return true;
    return false;
}

}  // namespace epilogue
