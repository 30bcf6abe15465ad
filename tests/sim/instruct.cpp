#include "tests/sim/instruct.h"

#include <fmt/format.h>

#include "tests/sim/chaos.h"
#include "worker/sources/summary_section.h"

namespace epilogue::sim {
namespace {

using std::chrono::seconds;

ConfigExtensions told_to_summarise() {
    ConfigExtensions sections;
    sections.edit<SummarySection>().sources = {"instruct", "final", "digest"};
    return sections;
}

Workload draw_people(World& world, Micros end) {
    Random& random = world.schedule.random;
    Workload told;
    for (int i = random.between(1, 4); i > 0; --i) {
        ToldConversation& conversation = told.conversations.emplace_back();
        conversation.id = fmt::format("c{}", told.conversations.size());
        conversation.partition =
            static_cast<int>(random.below(static_cast<std::uint64_t>(world.broker.partitions())));
        WantedCallback callback;
        callback.conversation = told.conversations.size() - 1;
        callback.number = static_cast<std::int64_t>(told.callbacks.size()) + 1;
        callback.late = random.chance(0.2);
        callback.at = random.between(Micros{0}, end);
        callback.options.mode = Mode::every_turn;
        told.callbacks.push_back(std::move(callback));
    }
    return told;
}

}  // namespace

Outcome run_instruct(std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace, told_to_summarise());
    Random& random = world.schedule.random;
    const Micros end = random.between(Micros(seconds{40}), Micros(seconds{100}));
    world.told_agents = std::make_unique<ToldAgents>(world.schedule, world.broker, world.oracle,
                                                     world.workload.conversations);
    world.set_up(draw_people(world, end), random.between(1, 3));
    for (std::size_t i = 0; i < world.workload.conversations.size(); ++i)
        world.told_agents->begin(i, random.between(1, 3), random.between(Micros{0}, end / 2));
    return go_through_faults(world, end);
}

}  // namespace epilogue::sim
