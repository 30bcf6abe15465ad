#include "sinks/log/log.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

LogTarget read_any(const ProcessorReader&) {
    return {};
}

void write_nothing(const ProcessorWriter&, const LogTarget&) {}

std::unique_ptr<Sink> make_log(const SinkSettings&) {
    return std::make_unique<LogSink>();
}

}  // namespace

const SinkDescriptor& log_sink() {
    static const SinkDescriptor descriptor{.name = "log",
                                           .sections = {},
                                           .shapes = {shape_of("log", "", read_any, write_nothing)},
                                           .wanted = {""},
                                           .describe = describe_place<LogTarget>,
                                           .same = same_place<LogTarget>,
                                           .make = make_log};
    return descriptor;
}

}  // namespace epilogue
