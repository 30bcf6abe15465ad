// What the program knows of a sink before it is made: its names, its settings, its targets, how to make it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_keys.h"
#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"
#include "sinks/port/sink.h"
#include "sinks/port/sink_settings.h"
#include "sinks/port/target.h"

namespace epilogue {

/// A sink's folder defines one, as `const SinkDescriptor& <name>_sink()`; sinks/registry.cpp lists them.
struct SinkDescriptor {
    std::string_view name;  ///< short: the processor's, the ledger's and the metrics' word for it
    std::vector<ConfigSection> sections;  ///< of the configuration; none for a sink without settings
    std::vector<ProcessorShape> shapes;   ///< of processor_json; the first has the short name as its type
    WantedPart wanted;                    ///< what the shapes read of processor_json
    /// A place in one line, equal for equal places; "" when the sink has but one, or the target is another's.
    std::string (*describe)(const Target& target);
    /// True when both are this sink's targets and equal in everything.
    bool (*same)(const Target& one, const Target& other);
    std::unique_ptr<Sink> (*make)(const SinkSettings& settings);
    std::string_view form = "{}";  ///< the short processor_json, for people; members with ? may be left out
};

/// SinkDescriptor::describe for a target type that has `std::string describe() const`.
template <class Place>
std::string describe_place(const Target& target) {
    const auto* place = target_in<Place>(target);
    return place == nullptr ? std::string() : place->describe();
}

/// SinkDescriptor::same for a target type that can be compared.
template <class Place>
bool same_place(const Target& one, const Target& other) {
    const auto* left = target_in<Place>(one);
    const auto* right = target_in<Place>(other);
    return left != nullptr && right != nullptr && *left == *right;
}

}  // namespace epilogue
