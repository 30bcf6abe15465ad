#include "sinks/port/descriptor.h"
#include "sinks/topic/topic.h"
#include "sinks/topic/topic_section.h"

namespace epilogue {
namespace {

TopicTarget read_any(const ProcessorReader&) {
    return {};
}

void write_nothing(const ProcessorWriter&, const TopicTarget&) {}

std::unique_ptr<Sink> make_topic(const SinkSettings& settings) {
    return std::make_unique<TopicSink>(settings.sections.get<OutcomesSection>().topic);
}

}  // namespace

const SinkDescriptor& topic_sink() {
    static const SinkDescriptor descriptor{.name = "topic",
                                           .sections = {outcomes_section()},
                                           .shapes = {shape_of("topic", "", read_any, write_nothing)},
                                           .wanted = {""},
                                           .describe = describe_place<TopicTarget>,
                                           .same = same_place<TopicTarget>,
                                           .make = make_topic};
    return descriptor;
}

}  // namespace epilogue
