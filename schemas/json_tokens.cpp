#include "schemas/json_tokens.h"

#include <cstdint>
#include <optional>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::uint32_t replacement_character = 0xFFFD;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::optional<std::uint32_t> hex_value(char c) {
    if (is_digit(c)) return static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
    return std::nullopt;
}

/// The code unit of the `\uXXXX` that `text` starts with.
std::optional<std::uint32_t> code_unit(std::string_view text) {
    if (text.size() < 6 || !text.starts_with("\\u")) return std::nullopt;
    std::uint32_t value = 0;
    for (const char c : text.substr(2, 4)) {
        const auto digit = hex_value(c);
        if (!digit) return std::nullopt;
        value = value * 16 + *digit;
    }
    return value;
}

bool is_high_surrogate(std::uint32_t unit) {
    return unit >= 0xD800 && unit <= 0xDBFF;
}

bool is_low_surrogate(std::uint32_t unit) {
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

void append_utf8(std::string& to, std::uint32_t code_point) {
    const auto put = [&](std::uint32_t byte) { to += static_cast<char>(static_cast<unsigned char>(byte)); };
    const auto put_rest = [&](unsigned shift) { put(0x80U | ((code_point >> shift) & 0x3FU)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0U | (code_point >> 6U));
        put_rest(0);
    } else if (code_point < 0x10000) {
        put(0xE0U | (code_point >> 12U));
        put_rest(6);
        put_rest(0);
    } else {
        put(0xF0U | (code_point >> 18U));
        put_rest(12);
        put_rest(6);
        put_rest(0);
    }
}

/// The character that the two-character escape `\c` stands for, or NUL.
char simple_escape(char c) {
    switch (c) {
        case '"':
            return '"';
        case '\\':
            return '\\';
        case '/':
            return '/';
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        default:
            return '\0';
    }
}

/// Length of the escape that `text` starts with, or 0 when it is none.
std::size_t escape_length(std::string_view text) {
    if (text.size() < 2) return 0;
    if (text[1] == 'u') return code_unit(text) ? 6 : 0;
    return simple_escape(text[1]) != '\0' ? 2 : 0;
}

std::size_t digits_at(std::string_view text, std::size_t from) {
    std::size_t count = 0;
    while (from + count < text.size() && is_digit(text[from + count])) ++count;
    return count;
}

}  // namespace

std::size_t string_token_length(std::string_view text) {
    if (text.empty() || text.front() != '"') return 0;
    std::size_t at = 1;
    std::size_t quote = text.find('"', at);
    while (quote != std::string_view::npos) {
        const std::size_t escape = text.substr(0, quote).find('\\', at);
        if (escape == std::string_view::npos) return quote + 1;
        const std::size_t length = escape_length(text.substr(escape));
        if (length == 0) return 0;
        at = escape + length;
        if (at > quote) quote = text.find('"', at);
    }
    return 0;
}

std::string unescaped(std::string_view between_quotes) {
    std::string_view rest = between_quotes;
    std::string result;
    result.reserve(rest.size());
    while (true) {
        const std::size_t plain = rest.find('\\');
        result += rest.substr(0, plain);
        if (plain == std::string_view::npos) return result;
        rest.remove_prefix(plain);
        if (const auto unit = code_unit(rest)) {
            rest.remove_prefix(6);
            const auto next = is_high_surrogate(*unit) ? code_unit(rest) : std::nullopt;
            if (next && is_low_surrogate(*next)) {
                rest.remove_prefix(6);
                append_utf8(result, 0x10000 + ((*unit - 0xD800) << 10U) + (*next - 0xDC00));
            } else {
                const bool lone = is_high_surrogate(*unit) || is_low_surrogate(*unit);
                append_utf8(result, lone ? replacement_character : *unit);
            }
        } else {
            result += simple_escape(rest[1]);
            rest.remove_prefix(2);
        }
    }
}

bool is_number_token(std::string_view token) {
    if (token == "NaN" || token == "Infinity" || token == "-Infinity") return true;
    std::size_t at = token.starts_with('-') ? 1 : 0;
    const std::size_t whole = digits_at(token, at);
    if (whole == 0 || (whole > 1 && token[at] == '0')) return false;
    at += whole;
    if (at < token.size() && token[at] == '.') {
        const std::size_t fraction = digits_at(token, at + 1);
        if (fraction == 0) return false;
        at += 1 + fraction;
    }
    if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
        ++at;
        if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
        const std::size_t exponent = digits_at(token, at);
        if (exponent == 0) return false;
        at += exponent;
    }
    return at == token.size();
}

std::size_t utf8_fault(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t length = 1;
        while (length <= 4 && !is_utf8(text.substr(at, length))) ++length;
        if (length > 4) return at;
        at += length;
    }
    return at;
}

std::size_t control_character_fault(std::string_view text) {
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '"') in_string = !in_string;
        if (!in_string) continue;
        if (static_cast<unsigned char>(text[at]) < 0x20) return at;
        if (text[at] == '\\' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x20)
            ++at;
    }
    return text.size();
}

}  // namespace epilogue
