// One form of processor_json: by which type and member it is known, how a target is read from it and written
// back.
#pragma once

#include <functional>
#include <string_view>

#include "sinks/port/processor_reader.h"
#include "sinks/port/processor_writer.h"
#include "sinks/port/target.h"

namespace epilogue {

struct ProcessorShape {
    std::string_view type;  ///< the sink's short name, or the last part of a dotted class name
    std::string_view mark;  ///< the member that only this form of the sink's has
    std::function<Target(const ProcessorReader&)> read;
    std::function<void(const ProcessorWriter&, const Target&)> write;
};

/// A shape whose target is a `Place`. `write` changes what differs from the place; it may leave out what the
/// form has no member for.
template <class Place>
ProcessorShape shape_of(std::string_view type, std::string_view mark, Place (*read)(const ProcessorReader&),
                        void (*write)(const ProcessorWriter&, const Place&)) {
    return {type, mark, [read](const ProcessorReader& json) { return Target(read(json)); },
            [write](const ProcessorWriter& json, const Target& target) {
                if (const auto* place = target_in<Place>(target)) write(json, *place);
            }};
}

}  // namespace epilogue
