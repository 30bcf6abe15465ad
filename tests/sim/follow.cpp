#include "tests/sim/follow.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/relay/follow/log_plan.h"
#include "agent/relay/follow/session_plan.h"
#include "tests/sim/log_server.h"

namespace epilogue::sim {
namespace {

using namespace std::chrono_literals;
using relay::Happening;
using relay::LogPosition;
using relay::Produce;
using relay::Ticket;

constexpr Micros lease = 90s;
constexpr Micros delivery = 30s;  // what the broker has not taken by then is given up
constexpr Micros save_every = 1s;
constexpr Micros renew_every = 10s;
constexpr std::uint64_t most_under_way = 20;  // for more the topic has no room

std::string text_of(const Happening& happening) {
    if (const auto* const frame = std::get_if<relay::EventFrame>(&happening)) return "of " + frame->event.id;
    if (const auto* const count = std::get_if<relay::CountRead>(&happening))
        return fmt::format("of {}", count->count);
    if (const auto* const page = std::get_if<relay::PageRead>(&happening)) {
        std::string text = "a page:";
        for (const auto& event : page->events) text += " " + event.id;
        return text;
    }
    constexpr std::array names{
        "a sync",          "an event", "an end of the socket", "a page",   "a count", "a failure",
        "no conversation", "a timer",  "an acknowledgement",   "a refusal"};
    return names.at(happening.index());
}

struct Record {
    std::string id;
    std::optional<std::int64_t> seq;
    bool run_over = false;
};

/// What the followers share: the topic, and the row of the conversation's position.
struct Shared {
    Schedule schedule;
    std::unique_ptr<LogServer> server;
    std::vector<Record> topic;
    double given_up = 0;
    Micros kafka_back{0};  ///< until then nothing reaches the topic
    LogPosition position;
    std::int64_t generation = 0;
    Micros lease_until{0};
    bool repeats_are_due = false;  ///< a relay was killed or frozen, or a record given up
    bool gave_up = false;          ///< a record: what stood behind it may have gone before it
    std::vector<std::string> violations;

    Shared(std::uint64_t seed, Trace::Level trace) : schedule(seed, trace) {}
};

/// A relay process as far as this conversation goes: the plan, and around it what Followed and Follower do.
class Relay : public std::enable_shared_from_this<Relay> {
  public:
    explicit Relay(Shared& shared) : shared_(shared), now_(shared.schedule) {
        generation_ = ++shared_.generation;
        lease_end_ = shared_.lease_until = now_.now() + lease;
        if (shared_.server->is_numbered())
            plan_ = std::make_unique<relay::SessionPlan>(shared_.position, relay::PlanRules{});
        else
            plan_ = std::make_unique<relay::LogPlan>(shared_.position, relay::PlanRules{});
        now_.say("relay {} begins at {}", generation_, relay::text_of(shared_.position));
    }

    void begin() {
        carry_out(plan_->begin());
        keep();
    }
    bool is_running() const { return running_; }
    bool is_frozen() const { return now_.now() < frozen_until_; }
    /// What its connections still carry to the broker may arrive.
    void kill() {
        now_.say("relay {} is killed", generation_);
        running_ = false;
        last_ticket_that_arrives_ = sent_ - now_.random.below(sent_ + 1) / 4;
        if (now_.now() < shared_.kafka_back) last_ticket_that_arrives_ = 0;
    }
    void freeze(Micros until) {
        now_.say("relay {} stands still", generation_);
        frozen_until_ = until;
    }

  private:
    /// Does that when the process runs, and not at all when it is dead.
    void soon(std::function<void(Relay&)> what) {
        if (!running_) return;
        if (is_frozen()) {
            if (deferred_.empty()) wake_later();
            deferred_.push_back(std::move(what));
            return;
        }
        what(*this);
    }
    void wake_later() {
        now_.at(frozen_until_, [self = shared_from_this()] {
            if (self->is_frozen()) {
                self->wake_later();
                return;
            }
            for (const auto& what : std::exchange(self->deferred_, {})) self->soon(what);
        });
    }
    std::function<void(Happening)> hears(int number, int Relay::*newest) {
        return [weak = weak_from_this(), number, newest](Happening happening) {
            if (const auto self = weak.lock())
                self->soon([number, newest, happening = std::move(happening)](Relay& there) mutable {
                    if (there.*newest == number) there.happened(std::move(happening));
                });
        };
    }

    void happened(Happening happening) {
        if (now_.trace.on()) now_.say("relay {} hears {}", generation_, text_of(happening));
        if (std::holds_alternative<relay::GivenUp>(happening)) outbox_.clear();
        carry_out(plan_->step(std::move(happening)));
    }

    void carry_out(relay::Effects effects) {
        for (relay::Effect& effect : effects)
            std::visit([this](auto& each) { carry_out(std::move(each)); }, effect);
        send();
    }
    void carry_out(Produce&& record) { outbox_.push_back(std::move(record)); }
    void carry_out(relay::OpenSocket&& open) {
        const int number = ++connection_;
        // After failures with pauses; here always with one.
        now_.after(open.pause + now_.random.between(10ms, 1s), [weak = weak_from_this(), open, number] {
            const auto self = weak.lock();
            if (!self) return;
            self->soon([open, number](Relay& there) {
                if (there.connection_ == number)
                    there.shared_.server->open(static_cast<int>(there.generation_), open,
                                               there.hears(number, &Relay::connection_));
            });
        });
    }
    void carry_out(relay::ReadPage&& page) { shared_.server->read(page, hears(++pages_, &Relay::pages_)); }
    void carry_out(relay::AskCount&&) { shared_.server->count(hears(++counts_, &Relay::counts_)); }
    void carry_out(relay::SetTimer&& timer) {
        const int number = ++timers_[timer.timer];
        now_.after(timer.after, [weak = weak_from_this(), which = timer.timer, number] {
            const auto self = weak.lock();
            if (!self) return;
            self->soon([which, number](Relay& there) {
                if (there.timers_[which] == number) there.happened(relay::TimerFired{which});
            });
        });
    }
    void carry_out(relay::Moved&&) {}
    void carry_out(relay::GapSeen&& gap) {
        if (gap.lost > 0) shared_.violations.emplace_back("events that the log holds are counted as lost");
    }
    void carry_out(relay::Ended&&) {
        shared_.violations.emplace_back("a conversation that is there was given up");
    }

    void send() {
        while (!outbox_.empty() && now_.now() + delivery < lease_end_ && sent_ - answered_ < most_under_way) {
            deliver(std::move(outbox_.front()));
            outbox_.pop_front();
        }
    }

    /// Records arrive in the order in which they were sent, or are given up; of those it may be both. What
    /// stands behind one that is given up is given up with it.
    void deliver(Produce record) {
        const bool is_too_long_away = now_.now() + delivery < shared_.kafka_back;
        const bool fails =
            !is_too_long_away && now_.now() >= stuck_until_ && now_.random.chance(shared_.given_up);
        if (fails || is_too_long_away) stuck_until_ = now_.now() + delivery;
        const bool given_up = now_.now() < stuck_until_;
        const bool arrives = !given_up || (fails && now_.random.chance(0.5));
        shared_.repeats_are_due = shared_.repeats_are_due || given_up;
        shared_.gave_up = shared_.gave_up || given_up;
        arrives_at_ =
            std::max({arrives_at_, now_.now() + now_.random.between(1ms, 50ms), shared_.kafka_back});
        const std::uint64_t number = ++sent_;
        const Ticket ticket = record.ticket;
        if (arrives)
            now_.at(arrives_at_, [self = shared_from_this(), number, record = std::move(record)] {
                if (self->running_ || number <= self->last_ticket_that_arrives_) self->arrived(record);
            });
        const Micros answer = given_up ? stuck_until_ : arrives_at_ + now_.random.between(1ms, 20ms);
        now_.at(answer, [weak = weak_from_this(), ticket, given_up] {
            const auto self = weak.lock();
            if (!self) return;
            self->soon([ticket, given_up](Relay& there) {
                ++there.answered_;
                there.happened(given_up ? Happening(relay::GivenUp{ticket})
                                        : Happening(relay::Acked{ticket}));
            });
        });
    }

    void arrived(const Produce& record) {
        const auto is_there = [this](const std::string& id) {
            return std::any_of(shared_.topic.begin(), shared_.topic.end(),
                               [&](const Record& each) { return each.id == id; });
        };
        now_.say("topic: {}{}", record.json, record.run_over ? " (run over)" : "");
        if (record.json.starts_with("end") && !is_there(record.json) && !shared_.gave_up)
            for (const std::string& id : shared_.server->written_before(record.json))
                if (!is_there(id))
                    shared_.violations.push_back(record.json + " is in the topic before " + id);
        if (record.run_over && !shared_.gave_up && !is_there(record.json.substr(5)))
            shared_.violations.push_back(record.json + " is in the topic before that end");
        shared_.topic.push_back({record.json, record.seq, record.run_over});
    }

    /// Positions are stored, and the lease is prolonged, while it is ours.
    void keep() {
        if (shared_.generation != generation_ || now_.now() >= lease_end_) {
            now_.say("relay {} is fenced", generation_);
            running_ = false;
            return;
        }
        shared_.position = plan_->position();
        if (now_.now() >= renew_at_) {
            renew_at_ = now_.now() + renew_every;
            lease_end_ = shared_.lease_until = now_.now() + lease;
            send();
        }
        now_.after(save_every,
                   [self = shared_from_this()] { self->soon([](Relay& there) { there.keep(); }); });
    }

    Shared& shared_;
    Schedule& now_;
    std::int64_t generation_ = 0;
    std::unique_ptr<relay::FollowPlan> plan_;
    std::deque<Produce> outbox_;
    Micros lease_end_{0};
    Micros renew_at_{0};
    Micros arrives_at_{0};
    Micros frozen_until_{0};
    std::vector<std::function<void(Relay&)>> deferred_;  ///< until then
    Micros stuck_until_{0};                              ///< the topic takes nothing
    std::uint64_t sent_ = 0;
    std::uint64_t answered_ = 0;
    std::uint64_t last_ticket_that_arrives_ = 0;
    std::map<relay::Timer, int> timers_;
    int connection_ = 0;
    int pages_ = 0;
    int counts_ = 0;
    bool running_ = true;
};

constexpr Micros troubled = 150s;

/// So much of each fault as the seed draws; none of many.
double some(Random& random, double most) {
    return random.chance(0.5) ? random.real01() * most : 0;
}

/// A relay that is there takes over what is free.
void take_over(Shared& shared, std::shared_ptr<Relay>& relay) {
    if (relay && shared.schedule.now() < shared.lease_until) return;
    relay = std::make_shared<Relay>(shared);
    relay->begin();
}

void plan_faults(Shared& shared, std::shared_ptr<Relay>& relay) {
    Random& random = shared.schedule.random;
    const bool by_place = random.chance(0.5);
    for (int kills = random.chance(0.6) ? random.between(1, 6) : 0; kills > 0; --kills)
        shared.schedule.at(random.between(1s, troubled), [&shared, &relay, by_place] {
            if (!relay->is_running()) return;
            shared.repeats_are_due = true;
            if (shared.schedule.random.chance(0.3)) {
                relay->freeze(shared.schedule.now() + shared.schedule.random.between(1s, 200s));
                return;
            }
            relay->kill();
            // One that starts in the dead one's place does not wait for its lease.
            if (by_place) shared.lease_until = shared.schedule.now();
        });
    for (int times = random.chance(0.4) ? random.between(1, 3) : 0; times > 0; --times)
        shared.schedule.at(random.between(1s, troubled), [&shared] {
            shared.server->goes_away(shared.schedule.now() + shared.schedule.random.between(100ms, 20s));
        });
}

/// The broker goes away, for shorter or for longer than it is waited for.
void plan_outages(Shared& shared, std::uint64_t seed) {
    Random random(~seed);  // of its own: the other faults of a seed are the same without it
    for (int times = random.chance(0.4) ? random.between(1, 2) : 0; times > 0; --times) {
        const Micros begins = random.between(1s, troubled);
        const Micros ends =
            begins + (random.chance(0.5) ? random.between(100ms, 20s) : random.between(20s, 90s));
        shared.schedule.at(begins, [&shared, ends] {
            shared.schedule.say("the broker goes away");
            shared.kafka_back = std::max(shared.kafka_back, ends);
        });
    }
}

void plan_events(Shared& shared) {
    Random& random = shared.schedule.random;
    Micros at = 100ms;
    for (int turns = random.between(1, 4); turns > 0; --turns) {
        for (int events = random.between(1, 15); events > 0; --events) {
            at += random.chance(0.7) ? random.between(1ms, 100ms) : random.between(100ms, 10s);
            shared.schedule.at(std::min(at, troubled), [&shared] { shared.server->happens(false); });
        }
        at += random.between(1ms, 3s);
        shared.schedule.at(std::min(at, troubled), [&shared] { shared.server->happens(true); });
    }
}

void judge(Shared& shared) {
    std::vector<std::string> first;
    std::set<std::string> seen;
    std::int64_t repeats = 0;
    for (const Record& record : shared.topic) {
        if (record.run_over) continue;
        if (!seen.insert(record.id).second)
            ++repeats;
        else
            first.push_back(record.id);
    }
    std::vector<std::string> log;
    for (const auto& event : shared.server->log()) log.push_back(event.id);
    for (const std::string& id : log)
        if (!seen.contains(id)) shared.violations.push_back(id + " is not in the topic");
    if (seen.size() > log.size()) shared.violations.emplace_back("the topic has what no log holds");
    if (repeats > 0 && !shared.repeats_are_due)
        shared.violations.push_back(fmt::format("{} repeats without a crash", repeats));
    const bool numbered = shared.server->is_numbered();
    if (numbered && !shared.gave_up && shared.violations.empty() && first != log)
        shared.violations.emplace_back("the topic has another order than the log");
    for (const Record& record : shared.topic) {
        if (record.run_over || (!numbered && !record.seq)) continue;
        const auto place = std::find(log.begin(), log.end(), record.id) - log.begin();
        if (!numbered || record.seq != place)
            shared.violations.push_back(
                fmt::format("{} has another number than its place {}", record.id, place));
    }
}

}  // namespace

Outcome run_follow(std::uint64_t seed, Trace::Level trace) {
    Shared shared(seed, trace);
    Random& random = shared.schedule.random;
    LogServer::Troubles troubles;
    const bool numbered = seed % 2 == 0;
    troubles.frame_lost = numbered ? 0 : some(random, 0.1);
    troubles.frame_late = some(random, 0.3);
    troubles.unnumbered = some(random, 0.1);
    troubles.deaf = some(random, 0.3);
    troubles.read_fails = some(random, 0.2);
    troubles.too_large = some(random, 0.1);
    troubles.written_late = some(random, 0.2);
    shared.server = std::make_unique<LogServer>(shared.schedule, numbered, troubles);
    shared.given_up = some(random, 0.02);

    std::shared_ptr<Relay> relay;
    plan_events(shared);
    take_over(shared, relay);
    plan_faults(shared, relay);
    plan_outages(shared, seed);
    constexpr Micros healed = troubled + 200s;  // the last frozen process has woken
    constexpr Micros over = healed + 30min;
    for (Micros at = 1s; at < over; at += 2s)
        shared.schedule.at(at, [&shared, &relay] { take_over(shared, relay); });
    shared.schedule.at(troubled, [&shared] {
        shared.server->heal();
        shared.given_up = 0;
    });
    while (shared.violations.empty() && shared.schedule.step(over)) {
    }
    if (shared.violations.empty()) judge(shared);
    Outcome outcome;
    outcome.violations = shared.violations;
    outcome.trace_hash = shared.schedule.trace.hash();
    outcome.records = static_cast<std::int64_t>(shared.topic.size());
    outcome.steps = shared.schedule.steps();
    outcome.virtual_hours = std::chrono::duration<double, std::ratio<3600>>(shared.schedule.now()).count();
    return outcome;
}

}  // namespace epilogue::sim
