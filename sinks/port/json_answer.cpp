#include "sinks/port/json_answer.h"

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/redacted.h"
#include "base/text.h"
#include "sinks/format/strip_unsafe.h"

namespace epilogue {

using Json = nlohmann::json;

Json parsed(std::string_view text) {
    return parse_json(text);
}

std::string text_at(const Json& object, const char* name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<std::vector<std::string>> texts_at(const Json& object, const char* name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (found == object.end() || !found->is_array()) return std::nullopt;
    std::vector<std::string> texts;
    for (const Json& item : *found)
        if (item.is_string()) texts.push_back(item.get<std::string>());
    return texts;
}

std::int64_t integer_at(const Json& object, const char* name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string one_line(std::string_view text) {
    constexpr std::size_t max_bytes = 200;
    return redacted_prefix(without_unseen(replaced(text, "\n", " ")), max_bytes);
}

}  // namespace epilogue
