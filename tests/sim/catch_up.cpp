#include "tests/sim/catch_up.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/io/kafka.h"
#include "tests/oracle/conversation_generator.h"
#include "tests/sim/chaos.h"

namespace epilogue::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Longer than any pause in a generated conversation.
constexpr seconds inactivity{45};
/// Longer than a swarm of faults may keep all workers from asking, or as the product has it.
constexpr seconds patient{600};
constexpr seconds impatient{40};
/// Longer than a server that answers takes, and a worker that starts; shorter than one call of a frozen one.
constexpr seconds at_once{28};

/// Who tells what of a conversation.
enum class Fate {
    whole,     ///< the topic and the server, everything
    headless,  ///< the topic lacks the first turns
    dies,      ///< there is nothing more to tell, in the middle of a turn
    unknown,   ///< the topic up to the middle of a turn; the server knows nothing of it
    // Of these only the server can disprove an inactivity: it gets the time.
    delayed,  ///< the topic has everything, but late
    unheard,  ///< the topic has nothing
    cut_off,  ///< the topic goes up to the middle of a turn
    // Of a schedule with a gap.
    gone,       ///< the topic has everything, until retention removes what was not read
    forgotten,  ///< the topic had it while no worker read, and no server knows of it
};
constexpr std::array<Fate, 7> fates{Fate::whole,   Fate::headless, Fate::dies,   Fate::unknown,
                                    Fate::delayed, Fate::unheard,  Fate::cut_off};
constexpr std::size_t fates_for_the_impatient = 4;

/// One conversation: what happens in it, and which part of that is where.
class Author {
  public:
    Author(Random& random, std::size_t index, Fate fate, Micros start)
        : random_(random),
          fate_(fate),
          is_long_(random.chance(0.5)),
          generator_(testing::make_conversation_generator(
              false, random.fork(), index, start,
              start + (fate == Fate::unheard && !is_long_
                           ? Micros{1}
                           : random.between(Micros(seconds{3}), Micros(seconds{12}))),
              {.settle = settle, .counts_by_time = fate != Fate::delayed && fate != Fate::gone})) {
        generator_->generate();
        for (const auto& told : generator_->events) events_.push_back({told.at, told.value});
        turns_ = generator_->turns;
        if (fate == Fate::dies || fate == Fate::unknown || fate == Fate::cut_off) cut();
        if (fate == Fate::headless) behead();
    }

    Micros over() const { return events_.back().at; }
    /// Callbacks may come at any time, unless the topic lacks turns that begin after them: no server would be
    /// asked.
    Micros earliest_callback() const {
        if (head_ > 0) return events_[head_].at;
        const bool lacks_turns = is_long_ && (fate_ == Fate::unheard || fate_ == Fate::cut_off);
        return lacks_turns ? over() + settle : Micros{0};
    }
    const std::vector<ExpectedTurn>& turns() const { return turns_; }
    std::optional<std::vector<ExpectedTurn>> in_topic() const { return in_topic_; }
    std::vector<TimedEvent> kept() const {
        const bool is_unknown = fate_ == Fate::unknown || fate_ == Fate::forgotten;
        return is_unknown ? std::vector<TimedEvent>() : events_;
    }

    std::vector<Produced> records(const std::string& id, int partition) const {
        std::vector<Produced> records;
        if (fate_ == Fate::unheard || fate_ == Fate::forgotten) return records;
        const Micros late =
            fate_ == Fate::delayed ? random_.between(Micros(seconds{1}), Micros(seconds{200})) : Micros{0};
        const std::size_t end = fate_ == Fate::cut_off ? cut_ : events_.size();
        for (std::size_t i = head_; i < end; ++i)
            records.push_back({events_[i].at, partition, id, events_[i].value, late});
        return records;
    }

  private:
    /// Somewhere in the middle of a turn the topic ends, and what is not cut off ends with it.
    void cut() {
        struct Place {
            std::size_t events;
            std::size_t turns;
            std::string open;
        };
        std::vector<Place> places;
        Folding folding;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            folding.take(events_[i].value, Database::start + events_[i].at);
            const auto* open = std::get_if<Open>(&folding.conversation().turn_state);
            const bool may_end =
                fate_ != Fate::cut_off || is_long_ || folding.turns().size() + 1 == turns_.size();
            if (may_end && open != nullptr && folding.conversation().status == "running")
                places.push_back({i + 1, folding.turns().size(), open->turn.key});
        }
        if (places.empty()) return void(cut_ = events_.size());  // it is told at once that it ended
        const Place& place = random_.one_of(places);
        cut_ = place.events;
        if (fate_ == Fate::cut_off) return;
        events_.resize(place.events);
        turns_.resize(place.turns);
        turns_.push_back({place.open, Verdict::timeout, ""});
    }

    /// The topic begins with the message that opens a later turn.
    void behead() {
        const std::size_t turn = random_.below(turns_.size());
        const std::string id = fmt::format(R"("id":"{}")", turns_[turn].key);
        const auto opening = std::find_if(events_.begin(), events_.end(), [&](const TimedEvent& event) {
            return event.value.find(id) != std::string::npos;
        });
        if (opening->value.find(R"("source":"user")") == std::string::npos) return;
        head_ = static_cast<std::size_t>(opening - events_.begin());
        in_topic_.emplace(turns_.begin() + static_cast<std::ptrdiff_t>(turn), turns_.end());
    }

    Random& random_;
    const Fate fate_;
    const bool is_long_;  ///< where the topic lacks much, it lacks several turns
    std::unique_ptr<testing::ConversationGenerator> generator_;
    std::vector<TimedEvent> events_;  ///< all that happens
    std::vector<ExpectedTurn> turns_;
    std::optional<std::vector<ExpectedTurn>> in_topic_;
    std::size_t head_ = 0;  ///< events that the topic lacks at the beginning
    std::size_t cut_ = 0;   ///< events up to the cut
};

/// A conversation that is wholly in the gap, which begins at `gap`. No server knows of it: its callbacks
/// are told of a turn whose opening was not seen, once it was inactive for long enough.
void forget(ToldConversation& conversation, Micros gap, int partitions, Workload& workload) {
    conversation.partition = partition_of_key(conversation.id, partitions);
    conversation.turns = {{"start", Verdict::timeout, ""}};
    conversation.is_forgotten = true;
    workload.records.push_back({gap + seconds{1}, conversation.partition, conversation.id,
                                R"({"kind":"SystemPromptEvent","id":"lost","source":"agent"})", Micros{0}});
}

/// `fate_of_all`: none: each has its own. `gap`: when workers stop to read what will be lost; none: never.
Workload draw(World& world, bool is_patient, std::optional<Fate> fate_of_all, Micros end,
              std::optional<Micros> gap = std::nullopt) {
    const bool has_gap = gap.has_value();
    Workload workload;
    Random random = world.schedule.random.fork();
    std::int64_t number = 1;
    for (std::size_t index = 0, count = 1 + random.below(5); index < count; ++index) {
        const Fate drawn = fates[random.below(is_patient ? fates.size() : fates_for_the_impatient)];
        const bool is_forgotten = has_gap && random.chance(0.3);
        const Fate fate = is_forgotten ? Fate::forgotten : fate_of_all.value_or(drawn);
        ToldConversation conversation;
        conversation.id = fmt::format("c{}", index);
        conversation.partition = random.between(0, world.broker.partitions() - 1);
        const Micros start = random.between(Micros{0}, end / 2);
        const Author author(random, index, fate, start);
        conversation.turns = author.turns();
        conversation.in_topic = author.in_topic();
        for (auto& record : author.records(conversation.id, conversation.partition))
            workload.records.push_back(std::move(record));
        if (is_forgotten) forget(conversation, *gap, world.broker.partitions(), workload);
        if (auto kept = author.kept(); !kept.empty())
            world.agent_logs->keep(conversation.id, start - random.between(Micros{0}, Micros(seconds{20})),
                                   std::move(kept));
        const Micros earliest = author.earliest_callback();
        for (int callbacks = random.between(1, 3); callbacks > 0; --callbacks) {
            WantedCallback callback;
            callback.conversation = index;
            callback.number = number++;
            // Who comes after a gap is asked about for another reason.
            callback.late = !has_gap && (earliest > Micros{0} || random.chance(0.8));
            callback.foreign = callback.late && random.chance(0.2);
            callback.at = earliest + random.between(Micros{0}, end - std::min(end, earliest));
            callback.from_last = callback.foreign || random.chance(0.7);
            if (!callback.foreign) callback.options = draw_options(random);
            workload.callbacks.push_back(std::move(callback));
        }
        workload.conversations.push_back(std::move(conversation));
    }
    std::stable_sort(workload.records.begin(), workload.records.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return workload;
}

/// All workers are away since `begin`, and what was sent to the partitions meanwhile is removed before they
/// are back. Returns when they are.
Micros lose_records(World& world, Micros begin, Micros end) {
    Micros over = end;
    for (const Produced& record : world.workload.records) over = std::max(over, record.at + seconds{3});
    world.schedule.at(begin, [&world, over, begin] {
        for (const auto& host : world.hosts) host->keep_dead(over - begin);
    });
    world.schedule.at(over - seconds{1}, [&world] {
        for (const auto& [partition, row] : world.database.partitions) world.broker.lose(partition);
        // Of a partition that was never read nothing is lost, but the records of who is forgotten say no
        // more.
        for (ToldConversation& each : world.workload.conversations)
            if (each.is_forgotten && !world.database.partitions.contains(each.partition)) each.turns.clear();
    });
    return over;
}

void have_agent_servers(World& world, bool is_patient) {
    world.batch.inactivity = inactivity;
    world.batch.default_agent_server = true;
    world.batch.agent_answers_in = is_patient ? patient : impatient;
    world.agent_logs = std::make_unique<AgentLogs>(world.schedule);
}

/// Only the server knows the conversations, and it is away for hours.
Outcome run_away_for_hours(std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace);
    Random& random = world.schedule.random;
    have_agent_servers(world, true);
    world.agent_patience = std::chrono::hours{24};
    const Micros end = random.between(Micros(seconds{60}), Micros(seconds{150}));
    const Micros back = random.between(Micros(minutes{10}), Micros(minutes{240}));
    world.agent_logs->stay_away_until(back);
    world.set_up(draw(world, true, Fate::unheard, end), random.between(1, 2));
    return go_through_faults(world, end, back);
}

/// A few conversations of a server that answers, behind many of one that is frozen.
Outcome run_frozen_neighbours(std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace);
    Random& random = world.schedule.random;
    world.schedule.faults.heal();
    have_agent_servers(world, true);
    const Micros end{seconds{60}};
    Workload told = draw(world, true, Fate::unheard, end);
    const std::size_t alive = told.conversations.size();
    Micros last{0};
    for (WantedCallback& callback : told.callbacks) {
        callback.at += end;  // all conversations have begun
        last = std::max(last, callback.at);
    }
    for (int i = random.between(30, 60); i > 0; --i) {
        WantedCallback callback;
        callback.conversation = told.conversations.size();
        callback.number = static_cast<std::int64_t>(told.callbacks.size()) + 1;
        callback.late = true;
        callback.at = last - Micros(seconds{3});
        told.callbacks.push_back(callback);
        ToldConversation& frozen = told.conversations.emplace_back();
        frozen.id = fmt::format("frozen{}", i);
        world.agent_logs->freeze(frozen.id);
    }
    world.set_up(std::move(told), random.between(1, 2));
    world.converge(minutes{120});
    for (std::size_t i = 0; i < alive; ++i) {
        const auto read = world.agent_logs->read_at(world.workload.conversations[i].id);
        if (!read || *read > last + at_once)
            world.oracle.complain(fmt::format("the log of {} was read {} s after its callback, behind others",
                                              world.workload.conversations[i].id,
                                              read ? (*read - last) / seconds{1} : -1));
    }
    world.judge();
    return world.outcome();
}

}  // namespace

Outcome run_catch_up(std::uint64_t seed, Trace::Level trace) {
    constexpr std::uint64_t scenes = 64;
    if (seed % scenes == 1) return run_away_for_hours(seed, trace);
    if (seed % scenes == 2) return run_frozen_neighbours(seed, trace);
    World world(seed, trace);
    Random& random = world.schedule.random;
    const bool is_patient = random.chance(0.8);
    have_agent_servers(world, is_patient);
    const bool has_gap = is_patient && random.chance(0.25);
    const Micros end = random.between(Micros(seconds{60}), Micros(seconds{150}));
    const auto fate = has_gap ? std::optional(Fate::gone) : std::nullopt;
    std::optional<Micros> gap;
    if (has_gap) gap = random.between(Micros(seconds{5}), end / 2 + seconds{10});
    world.set_up(draw(world, is_patient, fate, end, gap), random.between(1, 3));
    const Micros over = gap ? lose_records(world, *gap, end) : end;
    return go_through_faults(world, over);
}

}  // namespace epilogue::sim
