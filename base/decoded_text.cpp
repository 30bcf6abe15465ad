#include "base/decoded_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "base/code_point.h"
#include "base/unseen.h"

namespace epilogue {
namespace {

/// What stands at one place, and how many bytes of the raw text say it.
struct Piece {
    std::string_view text;  ///< empty: it is not seen
    std::size_t length = 1;
};

/// HTML's names of ASCII characters (HTML Living Standard, "Named character references"), and of two that are
/// not seen.
constexpr std::array<std::pair<std::string_view, std::string_view>, 44> entities{{
    {"amp", "&"},          {"lt", "<"},     {"gt", ">"},       {"quot", "\""},         {"apos", "'"},
    {"nbsp", " "},         {"lowbar", "_"}, {"UnderBar", "_"}, {"period", "."},        {"equals", "="},
    {"colon", ":"},        {"semi", ";"},   {"comma", ","},    {"sol", "/"},           {"bsol", "\\"},
    {"num", "#"},          {"percnt", "%"}, {"plus", "+"},     {"commat", "@"},        {"excl", "!"},
    {"dollar", "$"},       {"ast", "*"},    {"midast", "*"},   {"lpar", "("},          {"rpar", ")"},
    {"lsqb", "["},         {"lbrack", "["}, {"rsqb", "]"},     {"rbrack", "]"},        {"lcub", "{"},
    {"lbrace", "{"},       {"rcub", "}"},   {"rbrace", "}"},   {"vert", "|"},          {"verbar", "|"},
    {"VerticalLine", "|"}, {"grave", "`"},  {"Hat", "^"},      {"quest", "?"},         {"Tab", "\t"},
    {"NewLine", "\n"},     {"hyphen", "-"}, {"shy", ""},       {"ZeroWidthSpace", ""},
}};

/// Every ASCII character, to point at.
constexpr std::array<char, 128> ascii = [] {
    std::array<char, 128> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i);
    return all;
}();

bool is_alnum(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
}
bool is_punctuation(char c) {
    return static_cast<unsigned char>(c) < 0x80 && std::ispunct(static_cast<unsigned char>(c)) != 0;
}

/// A character of ASCII that is seen, or a blank.
bool is_graphic(char c) {
    return c >= ' ' && c < '\x7F';
}

/// The number that `digits` are as a whole, when it is that of an ASCII character.
std::optional<std::string_view> character(std::string_view digits, int base) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number, base);
    if (digits.empty() || error != std::errc{} || end != digits.end() || number == 0 ||
        number >= ascii.size())
        return std::nullopt;
    return std::string_view(&ascii[number], 1);
}

std::optional<Piece> entity(std::string_view text) {
    constexpr std::size_t longest = 16;
    const auto end = text.substr(0, longest).find(';');
    if (end == std::string_view::npos) return std::nullopt;
    const auto name = text.substr(1, end - 1);
    if (name.starts_with("#x") || name.starts_with("#X")) {
        if (const auto seen = character(name.substr(2), 16)) return Piece{*seen, end + 1};
        return std::nullopt;
    }
    if (name.starts_with('#')) {
        if (const auto seen = character(name.substr(1), 10)) return Piece{*seen, end + 1};
        return std::nullopt;
    }
    const auto* const found = std::find_if(entities.begin(), entities.end(),
                                           [&](const auto& known) { return known.first == name; });
    return found == entities.end() ? std::nullopt : std::optional(Piece{found->second, end + 1});
}

/// Markdown's escapes of punctuation, and those of string literals.
std::optional<Piece> escape(std::string_view text) {
    if (text.size() < 2) return std::nullopt;
    const char next = text[1];
    if (is_punctuation(next)) return Piece{text.substr(1, 1), 2};
    if (next == 'n' || next == 'r') return Piece{"\n", 2};
    if (next == 't') return Piece{"\t", 2};
    if (next == '\n') return Piece{" ", 2};  // a shell's command goes on in the next line
    const std::size_t digits = next == 'u' ? 4 : next == 'x' ? 2 : 0;
    if (digits == 0 || text.size() < 2 + digits) return std::nullopt;
    const auto seen = character(text.substr(2, digits), 16);
    return seen ? std::optional(Piece{*seen, 2 + digits}) : std::nullopt;
}

std::optional<Piece> percent(std::string_view text) {
    if (text.size() < 3) return std::nullopt;
    const auto seen = character(text.substr(1, 2), 16);
    return seen ? std::optional(Piece{*seen, 3}) : std::nullopt;
}

std::optional<Piece> tag(std::string_view text) {
    constexpr std::size_t longest = 100;
    const std::size_t name = text.size() > 1 && text[1] == '/' ? 2 : 1;
    if (name >= text.size() || !is_alnum(text[name])) return std::nullopt;
    const auto end = text.substr(0, longest).find_first_of("<>\n", name);
    if (end == std::string_view::npos || text[end] != '>') return std::nullopt;
    return Piece{{}, end + 1};
}

/// Underscores before or behind a word are emphasis; within one they are its own, also where it is marked.
std::optional<Piece> underscores(std::string_view raw, std::size_t at) {
    constexpr std::string_view marks = "*~`<>&;%\\";
    const auto is_word = [&](char c) { return is_alnum(c) || marks.find(c) != std::string_view::npos; };
    const auto end = std::min(raw.find_first_not_of('_', at), raw.size());
    const bool behind_word = at > 0 && is_word(raw[at - 1]);
    const bool before_word = end < raw.size() && is_word(raw[end]);
    if (behind_word == before_word) return Piece{raw.substr(at, end - at), end - at};
    return Piece{{}, end - at};
}

std::optional<Piece> unseen(std::string_view text) {
    const auto [bytes, value] = first_code_point(text);
    return value && is_unseen(*value) ? std::optional(Piece{{}, bytes.size()}) : std::nullopt;
}

Piece piece_at(std::string_view raw, std::size_t at) {
    const auto rest = raw.substr(at);
    const Piece itself{rest.substr(0, 1), 1};
    switch (raw[at]) {
        case '\\':
            return escape(rest).value_or(itself);
        case '&':
            return entity(rest).value_or(itself);
        case '%':
            return percent(rest).value_or(itself);
        case '<':
            return tag(rest).value_or(itself);
        case '_':
            return underscores(raw, at).value_or(itself);
        case '*':
        case '~':
        case '`':
            return Piece{{}, 1};
        default:
            return is_graphic(raw[at]) ? itself : unseen(rest).value_or(itself);
    }
}

}  // namespace

DecodedText decoded_text(std::string_view raw) {
    DecodedText decoded;
    decoded.text.reserve(raw.size());
    decoded.origin.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size();) {
        const auto [seen, length] = piece_at(raw, i);
        for (std::size_t k = 0; k < seen.size(); ++k) {
            decoded.text += seen[k];
            const bool is_as_it_was = seen.size() == length;
            decoded.origin.push_back(is_as_it_was ? DecodedText::Origin{i + k, i + k + 1}
                                                  : DecodedText::Origin{i, i + length});
        }
        i += length;
    }
    return decoded;
}

}  // namespace epilogue
