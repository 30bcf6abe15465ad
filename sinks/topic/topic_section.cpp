#include "sinks/topic/topic_section.h"

namespace epilogue {
namespace {

/// A worker would read an outcome of its own as an event that it cannot use.
std::optional<SettingProblem> contradiction_in(const Config& config) {
    const auto& topic = config.extensions.get<OutcomesSection>().topic;
    if (topic.empty() || (topic != config.kafka.topic && topic != config.kafka.dead_letter_topic))
        return std::nullopt;
    return SettingProblem{"topic", "is a topic of [kafka]: outcomes need one of their own"};
}

}  // namespace

ConfigSection outcomes_section() {
    return {
        "outcomes",
        "Records of turns that have ended, for the callbacks of processor `topic`.",
        {{"topic", any_text(place(&OutcomesSection::topic)),
          "Topic at [kafka] brokers that they are produced to. \"\": none, they wait for one. What writes it "
          "must also be allowed to read it: a record whose acknowledgement was lost is looked for there."}},
        nullptr,
        contradiction_in};
}

}  // namespace epilogue
