#include "schemas/json_part.h"

#include <algorithm>
#include <charconv>

namespace epilogue {

const WantedPart* WantedPart::find(std::string_view member) const {
    const WantedPart* any = nullptr;
    for (const WantedPart& wanted : members) {
        if (wanted.name == member) return &wanted;
        if (wanted.name == any_member) any = &wanted;
    }
    return any;
}

const JsonPart& JsonPart::operator[](std::string_view member) const {
    static const JsonPart absent;
    if (type != Type::object) return absent;
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const JsonPart& part) { return part.name == member; });
    return found == parts.end() ? absent : *found;
}

JsonPart& JsonPart::replace(std::string_view member) {
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const JsonPart& part) { return part.name == member; });
    JsonPart& part = found == parts.end() ? parts.emplace_back() : *found;
    part = JsonPart();
    part.name = member;
    return part;
}

JsonPart* JsonPart::keep(const WantedPart& wanted, std::string_view member) {
    if (wanted.name != any_member) return &replace(wanted.name);
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const JsonPart& part) { return part.key == member; });
    if (found == parts.end() && parts.size() >= max_kept_elements) return nullptr;
    JsonPart& part = found == parts.end() ? parts.emplace_back() : *found;
    part = JsonPart();
    part.name = any_member;
    part.key = member;
    return &part;
}

std::optional<std::string_view> JsonPart::string() const {
    if (type != Type::string) return std::nullopt;
    return text;
}

std::optional<std::int64_t> JsonPart::integer() const {
    if (type != Type::number) return std::nullopt;
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

}  // namespace epilogue
