#include "schemas/json_edit.h"

#include <cstddef>

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "schemas/json_spans.h"
#include "schemas/json_writer.h"

namespace epilogue {
namespace {

/// A part of the document: from the first byte to behind the last.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

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
    at = skip_json_blanks(text, at + 1);
    while (at < text.size() && text[at] == '"') {
        member.is_only = false;
        const std::size_t end_of_name = end_of_json_string(text, at);
        const bool is_it = spells(text.substr(at, end_of_name - at), name);
        const std::size_t begin =
            skip_json_blanks(text, skip_json_blanks(text, end_of_name) + 1);  // behind the colon
        const std::size_t end = end_of_json_value(text, begin);
        if (is_it) member.value = Span{begin, end};
        at = skip_json_blanks(text, end);
        if (at < text.size() && text[at] == ',') at = skip_json_blanks(text, at + 1);
    }
    member.object_end = at;
    return at < text.size() ? std::optional(member) : std::nullopt;
}

}  // namespace

std::optional<std::string> with_member(std::string_view document, const std::vector<std::string>& path,
                                       std::string_view value) {
    std::size_t at = skip_json_blanks(document, 0);
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
