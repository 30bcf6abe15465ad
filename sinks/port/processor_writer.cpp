#include "sinks/port/processor_writer.h"

#include <algorithm>
#include <utility>

#include "schemas/json_edit.h"

namespace epilogue {

ProcessorWriter ProcessorWriter::object(std::string_view name) const {
    auto path = path_;
    path.emplace_back(name);
    return {member(name), document_, std::move(path)};
}

void ProcessorWriter::text(std::string_view name, std::string_view value) const {
    if (member(name).string() != value) put(name, json_string(value));
}

void ProcessorWriter::optional_text(std::string_view name, std::string_view value) const {
    if (!value.empty())
        text(name, value);
    else if (!member(name).string_or_empty().empty())
        clear(name);
}

void ProcessorWriter::texts(std::string_view name, const std::vector<std::string>& values) const {
    const JsonPart& now = member(name);
    const bool is_alone = values.size() == 1 && now.string() == values.front();
    const bool is_same =
        now.type == JsonPart::Type::array &&
        std::equal(now.parts.begin(), now.parts.end(), values.begin(), values.end(),
                   [](const JsonPart& part, const std::string& value) { return part.string() == value; });
    if (is_alone || is_same) return;
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + json_string(value);
    put(name, "[" + list + "]");
}

void ProcessorWriter::number(std::string_view name, std::int64_t value) const {
    if (member(name).integer() != value) put(name, std::to_string(value));
}

void ProcessorWriter::optional_number(std::string_view name, std::optional<std::int64_t> value) const {
    if (value)
        number(name, *value);
    else
        clear(name);
}

void ProcessorWriter::flag(std::string_view name, bool value) const {
    if (member(name).is_true() != value) put(name, value ? "true" : "false");
}

void ProcessorWriter::clear(std::string_view name) const {
    if (member(name).is_given()) put(name, "null");
}

void ProcessorWriter::put(std::string_view name, std::string_view json) const {
    auto path = path_;
    path.emplace_back(name);
    if (auto changed = with_member(document_, path, json)) document_ = std::move(*changed);
}

}  // namespace epilogue
