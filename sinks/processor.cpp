#include "sinks/processor.h"

#include <algorithm>
#include <utility>

#include "base/config_keys.h"
#include "base/text.h"
#include "schemas/json_reader.h"
#include "sinks/port/descriptor.h"
#include "sinks/registry.h"

namespace epilogue {
namespace {

constexpr std::string_view member_only_from_here = "only_from_here";

/// The sink that a processor_type names, and the shape that goes with the type; null when there is none.
struct NamedProcessor {
    const SinkDescriptor* sink = nullptr;
    const ProcessorShape* shape = nullptr;
};

/// A short name stands as it is, a class by the last part of its dotted name.
NamedProcessor named_by(std::string_view type) {
    const std::size_t dot = type.rfind('.');
    const bool is_dotted = dot != std::string_view::npos;
    const std::string_view name = is_dotted ? type.substr(dot + 1) : type;
    for (const SinkDescriptor* sink : sink_descriptors())
        for (const ProcessorShape& shape : sink->shapes) {
            const bool is_short_name = shape.type == sink->name;
            if (shape.type == name && !(is_dotted && is_short_name)) return {sink, &shape};
        }
    return {};
}

/// What is said of a type that names no processor.
std::string complaint_about(std::string_view type) {
    std::vector<std::string_view> classes;
    std::vector<std::string_view> short_names;
    for (const SinkDescriptor* sink : sink_descriptors()) {
        short_names.push_back(sink->name);
        for (const ProcessorShape& shape : sink->shapes) classes.push_back(shape.type);
    }
    std::string text =
        "processor_type: \"" + std::string(prefix_of(type, 100)) + "\" is no processor of ours; ";
    const std::size_t dot = type.rfind('.');
    if (const auto nearest = did_you_mean(lowered(type), short_names); !nearest.empty())
        return text + nearest.substr(2);
    if (const auto nearest =
            did_you_mean(dot == std::string_view::npos ? type : type.substr(dot + 1), classes);
        !nearest.empty())
        return text + nearest.substr(2);
    text += "expected ";
    for (std::size_t i = 0; i < short_names.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::string(short_names[i]);
    return text + ", or a class name of OpenHands' callback processors";
}

/// The shape that the JSON has, of any of the sink's types; the row's own when it has none of them.
const ProcessorShape& shape_found(const NamedProcessor& named, const JsonPart& json) {
    const auto has = [&](const ProcessorShape& shape) {
        return json[shape.mark].type != JsonPart::Type::absent;
    };
    if (has(*named.shape)) return *named.shape;
    const auto found = std::find_if(named.sink->shapes.begin(), named.sink->shapes.end(), has);
    return found == named.sink->shapes.end() ? *named.shape : *found;
}

/// A row's JSON, the shape it has, and the place it says.
struct DecodedRow {
    const SinkDescriptor* sink = nullptr;
    const ProcessorShape* shape = nullptr;
    JsonPart json;
    Target target;
    bool only_from_here = false;
};

Result<DecodedRow> decoded(std::string_view processor_type, std::string_view processor_json) {
    const NamedProcessor named = named_by(processor_type);
    if (!named.sink) return poisonous(complaint_about(processor_type));
    WantedPart wanted = named.sink->wanted;
    wanted.members.push_back({member_only_from_here});
    auto json = JsonReader().read(processor_json, wanted);
    if (!json) return poisonous("processor_json: not usable JSON: " + json.error().detail);
    if (json->type != JsonPart::Type::object) return poisonous("processor_json: expected an object");
    const ProcessorShape& shape = shape_found(named, *json);
    std::string complaint;
    const ProcessorReader reader(*json, complaint);
    Target target = shape.read(reader);
    const bool only_from_here = reader.flag(member_only_from_here, false);
    if (!complaint.empty()) return poisonous("processor_json: " + complaint);
    return DecodedRow{named.sink, &shape, std::move(*json), std::move(target), only_from_here};
}

}  // namespace

std::optional<std::string> sink_named(std::string_view processor_type) {
    const NamedProcessor named = named_by(processor_type);
    if (!named.sink) return std::nullopt;
    return std::string(named.sink->name);
}

Result<Processor> decode_processor(std::string_view processor_type, std::string_view processor_json) {
    TRY(DecodedRow row, decoded(processor_type, processor_json));
    return Processor{std::string(row.sink->name), std::move(row.target), row.only_from_here};
}

Result<std::string> encode_processor(std::string_view processor_type, std::string_view processor_json,
                                     const Processor& processor) {
    TRY(const DecodedRow row, decoded(processor_type, processor_json));
    std::string text(processor_json);
    if (row.sink->same(row.target, processor.target)) return text;
    row.shape->write(ProcessorWriter(row.json, text), processor.target);
    const auto written = decoded(processor_type, text);
    if (!written || !row.sink->same(written->target, processor.target))
        return poisonous("processor_json: this form cannot hold the place " + describe(processor));
    return text;
}

std::string describe(const Processor& processor) {
    std::string place;
    for (const SinkDescriptor* sink : sink_descriptors())
        if (sink->name == processor.sink) place = sink->describe(processor.target);
    // Decoded targets are far shorter; a hand-made one must not break a column either.
    return std::string(prefix_of(place.empty() ? processor.sink : processor.sink + ":" + place, 512));
}

}  // namespace epilogue
