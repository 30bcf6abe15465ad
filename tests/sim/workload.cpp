#include "tests/sim/workload.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/oracle/conversation_generator.h"
#include "tests/sim/places.h"

namespace epilogue::sim {
namespace {

using std::chrono::seconds;
using testing::ConversationGenerator;
using testing::Pacing;

/// Events that came before, sent again by a second source.
void repeat_some(Random& random, Faults& faults, std::vector<ConversationGenerator::TimedEvent>& told) {
    std::vector<ConversationGenerator::TimedEvent> repeats;
    for (std::size_t i = 0; i < told.size(); ++i) {
        if (!faults.strikes(Fault::repeated_event)) continue;
        const Micros soon = told[i].at + random.between(Micros{1}, Micros(seconds{15}));
        // Its id is remembered for the next 64 steering events.
        const std::size_t far = std::min(told.size() - 1, i + 50);
        repeats.push_back(
            {std::max(told[i].at, std::min(soon, told[far].at)) + Micros{1}, told[i].value, told[i].marks});
    }
    told.insert(told.end(), repeats.begin(), repeats.end());
    std::stable_sort(told.begin(), told.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
}

/// Records next to each other change places, and some come much too late.
bool shuffle_some(Random& random, Faults& faults, std::vector<ConversationGenerator::TimedEvent>& told) {
    bool changed = false;
    for (std::size_t i = 0; i + 1 < told.size(); ++i) {
        if (!faults.strikes(Fault::reordered_event)) continue;
        changed = true;
        if (random.chance(0.7))
            std::swap(told[i].value, told[i + 1].value), std::swap(told[i].marks, told[i + 1].marks);
        else
            told[i].at += random.between(Micros(seconds{1}), Micros(seconds{50}));
    }
    std::stable_sort(told.begin(), told.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    return changed;
}

}  // namespace

CallbackOptions draw_options(Random& random) {
    CallbackOptions options;
    const double draw = random.real01();
    options.mode = draw < 0.5 ? Mode::every_turn : draw < 0.8 ? Mode::once : Mode::until_done;
    if (random.chance(0.3)) {
        std::vector<Verdict> some;
        for (const Verdict verdict : options.triggers)
            if (random.chance(0.6)) some.push_back(verdict);
        if (!some.empty()) options.triggers = std::move(some);
    }
    return options;
}

Workload draw_workload(Random random, Faults& faults, int partitions, Micros end) {
    Workload workload;
    const int conversations = random.chance(0.15) ? 1 : random.between(2, 6);
    std::int64_t number = 1;
    for (int i = 0; i < conversations; ++i) {
        const auto index = static_cast<std::size_t>(i);
        ToldConversation conversation;
        conversation.id = fmt::format("c{}", i);
        conversation.partition = static_cast<int>(random.below(static_cast<std::uint64_t>(partitions)));
        const Micros start = random.between(Micros{0}, end / 2);
        const bool v0 = random.chance(0.35);
        const Random fork = random.fork();
        const Micros until = start + random.between(Micros(seconds{5}), Micros(seconds{40}));
        Pacing pacing{.settle = settle, .real_servers = true};
        for (const std::int64_t thread : {number, number + 2, std::int64_t{0}, number, number + 1})
            pacing.origins.push_back(thread == 0 ? "" : place_of(thread).name);
        auto generator = make_conversation_generator(v0, fork, index, start, until, std::move(pacing));
        generator->generate();
        conversation.turns = std::move(generator->turns);
        conversation.messy = shuffle_some(random, faults, generator->events);
        repeat_some(random, faults, generator->events);
        for (auto& told : generator->events)
            workload.records.push_back({told.at, conversation.partition, conversation.id,
                                        std::move(told.value), Micros{0}, told.marks});

        for (int callbacks = random.between(1, 3); callbacks > 0; --callbacks) {
            WantedCallback callback;
            callback.conversation = index;
            callback.number = number++;
            callback.late = faults.strikes(Fault::late_registration);
            callback.foreign = callback.late && random.chance(0.3);
            callback.at = random.between(start, end);
            callback.from_last = callback.foreign || random.chance(0.7);
            if (!callback.foreign) callback.options = draw_options(random);
            workload.callbacks.push_back(std::move(callback));
        }
        workload.conversations.push_back(std::move(conversation));
    }
    // A conversation without a callback is written only when it is steered.
    const std::string steering =
        R"({"kind":"ConversationStateUpdateEvent","id":"refused","key":"execution_status","value":"running"})";
    const std::size_t good = workload.records.size();
    for (std::size_t i = 0; i < good; ++i) {
        const Produced near = workload.records[i];
        if (faults.strikes(Fault::poison)) {
            workload.records.push_back({near.at, near.partition, near.key, "{\"kind\":"});
            ++workload.poison;
        }
        if (faults.strikes(Fault::refused_by_database)) {
            workload.records.push_back({near.at, near.partition, "refused", steering});
            ++workload.poison;
        }
    }
    std::stable_sort(workload.records.begin(), workload.records.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return workload;
}

}  // namespace epilogue::sim
