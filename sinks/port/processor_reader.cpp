#include "sinks/port/processor_reader.h"

#include <utility>

namespace epilogue {
namespace {

constexpr std::string_view expected_positive = "a positive integer";

}  // namespace

ProcessorReader ProcessorReader::object(std::string_view name) const {
    if (member(name).type != JsonPart::Type::object) refuse(name, "an object");
    return ProcessorReader(member(name), complaint_, path_ + std::string(name) + ".");
}

std::string ProcessorReader::text(std::string_view name, const TextRule& rule) const {
    const auto text = member(name).string();
    if (!text || !rule.fits(*text)) refuse(name, rule.expected);
    return std::string(text.value_or(""));
}

std::string ProcessorReader::optional_text(std::string_view name, const TextRule& rule) const {
    if (!member(name).is_given() || member(name).string() == "") return "";
    return text(name, rule);
}

std::int64_t ProcessorReader::positive(std::string_view name) const {
    const auto number = member(name).integer();
    if (!number || *number < 1) refuse(name, expected_positive);
    return number.value_or(0);
}

std::optional<std::int64_t> ProcessorReader::optional_positive(std::string_view name) const {
    if (!member(name).is_given()) return std::nullopt;
    return positive(name);
}

bool ProcessorReader::flag(std::string_view name, std::optional<bool> otherwise) const {
    if (!member(name).is_given() && otherwise) return *otherwise;
    if (member(name).type != JsonPart::Type::boolean) refuse(name, "true or false");
    return member(name).is_true();
}

void ProcessorReader::refuse(std::string_view name, std::string_view expected) const {
    if (!complaint_.empty()) return;
    complaint_ = "field \"" + path_ + std::string(name) + "\": expected " + std::string(expected);
}

}  // namespace epilogue
