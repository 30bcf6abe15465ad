#include "sinks/registry.h"

#include "sinks/port/descriptor.h"

// clang-format off: a line a sink, and adding one changes no other line.
#define EPILOGUE_SINKS(SINK) \
    SINK(slack)              \
    SINK(github)             \
    SINK(gitlab)             \
    SINK(jira)               \
    SINK(linear)             \
    SINK(webhook)            \
    SINK(topic)              \
    SINK(email)              \
    SINK(log)

// clang-format on

namespace epilogue {

#define EPILOGUE_DECLARE_SINK(name) const SinkDescriptor& name##_sink();  // defined in sinks/<name>/
EPILOGUE_SINKS(EPILOGUE_DECLARE_SINK)

const std::vector<const SinkDescriptor*>& sink_descriptors() {
#define EPILOGUE_SINK_ROW(name) &name##_sink(),
    static const std::vector<const SinkDescriptor*> all{EPILOGUE_SINKS(EPILOGUE_SINK_ROW)};
    return all;
}

std::vector<ConfigSection> sink_sections() {
    std::vector<ConfigSection> sections;
    for (const SinkDescriptor* sink : sink_descriptors())
        sections.insert(sections.end(), sink->sections.begin(), sink->sections.end());
    return sections;
}

std::map<std::string, std::unique_ptr<Sink>> make_sinks(const SinkSettings& settings) {
    std::map<std::string, std::unique_ptr<Sink>> sinks;
    for (const SinkDescriptor* sink : sink_descriptors()) sinks.emplace(sink->name, sink->make(settings));
    return sinks;
}

}  // namespace epilogue
