#include "agent/json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace epilogue::agent {

const Json& member_of(const Json& object, const char* name) {
    static const Json nothing;
    if (!object.is_object()) return nothing;
    const auto found = object.find(name);
    return found == object.end() ? nothing : *found;
}

std::string string_in(const Json& object, const char* name) {
    const Json& member = member_of(object, name);
    return member.is_string() ? member.get<std::string>() : "";
}

std::string text_of(const Json& json) {
    return json_line(json);
}

}  // namespace epilogue::agent
