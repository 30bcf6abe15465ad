#include "schemas/json_spans.h"

namespace epilogue {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// The text between the brackets that `text` begins and ends with, blanks around them left out; nullopt when
/// it has no such brackets.
std::optional<std::string_view> between(std::string_view text, char open, char close) {
    const std::size_t first = text.find_first_not_of(blanks);
    const std::size_t last = text.find_last_not_of(blanks);
    if (first == std::string_view::npos || first == last || text[first] != open || text[last] != close)
        return std::nullopt;
    return text.substr(first + 1, last - first - 1);
}

/// Moves `at` over the comma behind a part. False when neither a part nor the end follows.
bool pass_comma(std::string_view inside, std::size_t& at) {
    at = skip_json_blanks(inside, at);
    if (at == inside.size()) return true;
    if (inside[at] != ',') return false;
    at = skip_json_blanks(inside, at + 1);
    return at < inside.size();
}

/// Moves `at` over the value that begins there. False when none does.
bool pass_value(std::string_view inside, std::size_t& at, std::string_view& value) {
    const std::size_t end = end_of_json_value(inside, at);
    value = inside.substr(at, end - at);
    at = end;
    return !value.empty();
}

}  // namespace

std::size_t skip_json_blanks(std::string_view text, std::size_t at) {
    const std::size_t found = text.find_first_not_of(blanks, at);
    return found == std::string_view::npos ? text.size() : found;
}

std::size_t end_of_json_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    return at < text.size() ? at + 1 : text.size();
}

std::size_t end_of_json_value(std::string_view text, std::size_t at) {
    if (at >= text.size()) return at;
    if (text[at] == '"') return end_of_json_string(text, at);
    if (text[at] != '{' && text[at] != '[') {
        const std::size_t end = text.find_first_of(" \t\r\n,]}", at);
        return end == std::string_view::npos ? text.size() : end;
    }
    std::size_t depth = 0;
    while (true) {
        at = text.find_first_of("\"{}[]", at);
        if (at == std::string_view::npos) return text.size();
        const char c = text[at];
        if (c == '"') {
            at = end_of_json_string(text, at);
            continue;
        }
        if (c == '{' || c == '[') ++depth;
        ++at;
        if ((c == '}' || c == ']') && --depth == 0) return at;
    }
}

std::optional<std::vector<std::string_view>> json_elements(std::string_view text) {
    const auto inside = between(text, '[', ']');
    if (!inside) return std::nullopt;
    std::vector<std::string_view> elements;
    std::size_t at = skip_json_blanks(*inside, 0);
    while (at < inside->size()) {
        std::string_view element;
        if (!pass_value(*inside, at, element) || !pass_comma(*inside, at)) return std::nullopt;
        elements.push_back(element);
    }
    return elements;
}

std::optional<std::vector<JsonMember>> json_members(std::string_view text) {
    const auto inside = between(text, '{', '}');
    if (!inside) return std::nullopt;
    std::vector<JsonMember> members;
    std::size_t at = skip_json_blanks(*inside, 0);
    while (at < inside->size()) {
        if ((*inside)[at] != '"') return std::nullopt;
        JsonMember member;
        const std::size_t end = end_of_json_string(*inside, at);
        member.name = inside->substr(at, end - at);
        at = skip_json_blanks(*inside, end);
        if (at == inside->size() || (*inside)[at] != ':') return std::nullopt;
        at = skip_json_blanks(*inside, at + 1);
        if (!pass_value(*inside, at, member.value) || !pass_comma(*inside, at)) return std::nullopt;
        members.push_back(member);
    }
    return members;
}

}  // namespace epilogue
