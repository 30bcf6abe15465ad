#include "tests/sim/outage.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/oracle/conversation_generator.h"
#include "tests/support/v1_events.h"

namespace epilogue::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::stamp_of;
namespace v1 = testing::v1;

constexpr int conversations = 500;
constexpr Micros outage_begins = minutes{20};
constexpr Micros outage_ends = outage_begins + hours{3};
/// Nothing is told after this; an inactivity that began before is reported within the next two hours.
constexpr Micros last_event = outage_ends + minutes{40};
constexpr Micros over = last_event + hours{3};

/// What becomes of a turn that is open when the outage begins.
enum class Fate {
    goes_on,     ///< works all the time, ends after the outage
    ends,        ///< during the outage
    taken_back,  ///< finishes during the outage, goes on a second later, ends after the outage
    dies,        ///< never says a word again, from before the outage on
};
/// Twenty silences at once may be real ones (contract §4a): fewer die.
constexpr std::array<std::pair<Fate, int>, 4> shares{
    {{Fate::dies, 10}, {Fate::ends, 140}, {Fate::taken_back, 150}, {Fate::goes_on, 200}}};

class Teller {
  public:
    Teller(Random& random, int index, Workload& workload, int partition)
        : random_(random), index_(index), workload_(workload), partition_(partition) {}

    ToldConversation tell(Fate fate) {
        const std::string opening = next_id();
        at_ = random_.between(Micros{0}, Micros(minutes{5}));
        add(v1::user_message(opening, stamp_of(at_)));
        at_ += milliseconds{100};
        add(v1::status(next_id(), stamp_of(at_), "running"));
        work_until(outage_begins - minutes{5});
        if (fate == Fate::dies) return told(opening, Verdict::timeout, "");
        if (fate == Fate::ends || fate == Fate::taken_back) {
            work_until(outage_begins + random_.between(Micros(minutes{30}), Micros(minutes{170})));
            finish("first");
            if (fate == Fate::ends) return told(opening, Verdict::finished, words("first"));
            at_ += seconds{1};
            add(v1::status(next_id(), stamp_of(at_), "running"));
        }
        work_until(outage_ends + random_.between(Micros(minutes{1}), Micros(minutes{30})));
        finish("last");
        return told(opening, Verdict::finished, words("last"));
    }

  private:
    void work_until(Micros time) {
        for (;;) {
            const Micros next = at_ + random_.between(Micros(minutes{2}), Micros(minutes{100}));
            if (next >= time) break;
            at_ = next;
            add(v1::edit_action(next_id(), stamp_of(at_), fmt::format("[c{}]", index_)));
        }
        at_ = std::max(at_, time);
    }
    void finish(std::string_view which) {
        add(v1::finish_action(next_id(), stamp_of(at_), words(which)));
        at_ += milliseconds{50};
        add(v1::status(next_id(), stamp_of(at_), "finished"));
    }
    std::string words(std::string_view which) const { return fmt::format("Done [c{}t0] {}.", index_, which); }
    std::string next_id() { return fmt::format("c{}-e{}", index_, events_++); }
    void add(std::string value) {
        workload_.records.push_back({at_, partition_, fmt::format("c{}", index_), std::move(value)});
    }
    ToldConversation told(const std::string& opening, Verdict verdict, std::string words) const {
        return {fmt::format("c{}", index_), partition_, {{opening, verdict, std::move(words)}}};
    }

    Random& random_;
    const int index_;
    Workload& workload_;
    const int partition_;
    Micros at_{0};
    int events_ = 0;
};

Workload tell_all(Random& random, int partitions) {
    Workload workload;
    for (const auto& [fate, count] : shares) {
        for (int i = 0; i < count; ++i) {
            const auto index = workload.conversations.size();
            Teller teller(random, static_cast<int>(index), workload, random.between(0, partitions - 1));
            workload.conversations.push_back(teller.tell(fate));
            WantedCallback callback;
            callback.conversation = index;
            callback.number = static_cast<std::int64_t>(index) + 1;
            callback.options.mode = Mode::every_turn;
            workload.callbacks.push_back(std::move(callback));
        }
    }
    std::stable_sort(workload.records.begin(), workload.records.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return workload;
}

/// The relay comes back and sends what it has, in its order, a hundred a second.
void hold_back(std::vector<Produced>& records, bool stamped_late) {
    Micros sent = outage_ends;
    for (Produced& record : records) {
        if (record.at < outage_begins || (record.at >= outage_ends && record.at > sent)) continue;
        sent += milliseconds{10};
        record.on_its_way = stamped_late ? Micros{0} : sent - record.at;
        if (stamped_late) record.at = sent;
    }
}

}  // namespace

Outcome run_outage(Outage outage, std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace);
    Schedule& schedule = world.schedule;
    schedule.faults.heal();  // nothing else goes wrong
    Workload workload = tell_all(schedule.random, world.broker.partitions());
    if (outage != Outage::workers) hold_back(workload.records, outage == Outage::relay);
    world.set_up(std::move(workload), schedule.random.between(2, 3));
    schedule.at(outage_begins, [&world, outage] {
        for (const auto& host : world.hosts) {
            if (outage == Outage::kafka) host->cut_off(outage_ends - outage_begins);
            if (outage == Outage::workers) host->keep_dead(outage_ends - outage_begins);
        }
    });
    world.run_until(over);
    world.converge(minutes{25});
    world.judge();
    return world.outcome();
}

}  // namespace epilogue::sim
