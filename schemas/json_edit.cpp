#include "schemas/json_edit.h"

#include <cstddef>

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "schemas/json_writer.h"

namespace epilogue {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// A part of the document: from the first byte to behind the last.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    const std::size_t found = text.find_first_not_of(blanks, at);
    return found == std::string_view::npos ? text.size() : found;
}

/// Behind the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    return at < text.size() ? at + 1 : text.size();
}

/// Behind the value that begins at `at`.
std::size_t end_of_value(std::string_view text, std::size_t at) {
    if (at >= text.size()) return at;
    if (text[at] == '"') return end_of_string(text, at);
    if (text[at] != '{' && text[at] != '[') {
        const std::size_t end = text.find_first_of(" \t\r\n,]}", at);
        return end == std::string_view::npos ? text.size() : end;
    }
    std::size_t depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = end_of_string(text, at);
            continue;
        }
        if (c == '{' || c == '[') ++depth;
        ++at;
        if ((c == '}' || c == ']') && --depth == 0) break;
    }
    return at;
}

bool spells(std::string_view quoted, std::string_view name) {
    const auto json = parse_json(quoted);
    return json.is_string() && json.get_ref<const std::string&>() == name;
}

/// What is found of a member in an object.
struct Member {
    std::optional<Span> value;   ///< of the last member of that name
    std::size_t object_end = 0;  ///< where the object's closing bracket stands
    bool is_only = true;         ///< the object has no members at all
};

/// Looks for `name` in the object that begins at `at`; nullopt when no object begins there.
std::optional<Member> member_in(std::string_view text, std::size_t at, std::string_view name) {
    if (at >= text.size() || text[at] != '{') return std::nullopt;
    Member member;
    at = skip_blanks(text, at + 1);
    while (at < text.size() && text[at] == '"') {
        member.is_only = false;
        const std::size_t end_of_name = end_of_string(text, at);
        const bool is_it = spells(text.substr(at, end_of_name - at), name);
        const std::size_t begin = skip_blanks(text, skip_blanks(text, end_of_name) + 1);  // behind the colon
        const std::size_t end = end_of_value(text, begin);
        if (is_it) member.value = Span{begin, end};
        at = skip_blanks(text, end);
        if (at < text.size() && text[at] == ',') at = skip_blanks(text, at + 1);
    }
    member.object_end = at;
    return at < text.size() ? std::optional(member) : std::nullopt;
}

}  // namespace

std::optional<std::string> with_member(std::string_view document, const std::vector<std::string>& path,
                                       std::string_view value) {
    std::size_t at = skip_blanks(document, 0);
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto member = member_in(document, at, path[i]);
        const bool is_last = i + 1 == path.size();
        if (!member || (!member->value && !is_last)) return std::nullopt;
        if (!is_last) {
            at = member->value->begin;
            continue;
        }
        std::string result;
        if (member->value) {
            result = document.substr(0, member->value->begin);
            result += value;
            return result.append(document.substr(member->value->end));
        }
        result = document.substr(0, member->object_end);
        result += (member->is_only ? "" : ", ") + json_string(path[i]) + ": ";
        result += value;
        return result.append(document.substr(member->object_end));
    }
    return std::nullopt;
}

std::string json_string(std::string_view text) {
    JsonWriter writer;
    writer.text(text);
    return writer.take();
}

}  // namespace epilogue
