#include "tests/sim/storm.h"

#include <algorithm>
#include <array>

#include "base/rate_limit.h"
#include "tests/sim/pending_posts.h"

namespace epilogue::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int pending = 10000;
constexpr Micros longest = hours{60};
/// Of the other credential: from its being planned to the platform's receipt, at most.
constexpr Micros prompt = seconds{15};
/// The refused credential: requests that may be under way when it is refused first, and one every five
/// minutes.
constexpr int most_tries = 12 + 12;
constexpr Micros refused_for = hours{1};

/// The platform's side: counts, and refuses.
class Gatekeeper {
  public:
    Gatekeeper(World& world, Storm storm, const std::vector<RateLimit>& limits)
        : world_(world), storm_(storm), limits_(limits) {}

    std::optional<Refusal> meet(std::int64_t number, bool posts) {
        const Micros now = world_.schedule.now();
        const bool is_stormy = number % 2 != 0;
        if (!is_stormy) {
            if (posts && now - planned_at_[number] > prompt)
                world_.oracle.complain("a post of another credential waited: " + place_of(number).name);
            return std::nullopt;
        }
        if (now < closed_until_)
            world_.oracle.complain(
                fmt::format("a request for {} inside a waiting time, {} s before its end", number,
                            std::chrono::duration_cast<seconds>(closed_until_ - now).count()));
        if (posts) count(now);
        return storm_ == Storm::rate ? refuse_rate(now) : refuse_credential(now);
    }
    void plan(std::int64_t number) { planned_at_[number] = world_.schedule.now(); }

  private:
    void count(Micros now) {
        received_.push_back(now);
        for (const RateLimit& limit : limits_) {
            const auto count = static_cast<std::size_t>(limit.count);
            if (received_.size() > count && now - received_[received_.size() - 1 - count] < limit.span)
                world_.oracle.complain(fmt::format("{} posts in {} s", count + 1, limit.span.count()));
        }
    }
    std::optional<Refusal> refuse_rate(Micros now) {
        constexpr std::array<int, 6> waits{0, 1, 5, 30, 60, 300};
        Random& random = world_.schedule.random;
        if (!random.chance(refusals_in_a_row_ > 0 ? 0.5 : 0.02)) {
            refusals_in_a_row_ = 0;
            return std::nullopt;
        }
        ++refusals_in_a_row_;
        world_.schedule.faults.count(Fault::rate_limited);
        Refusal refusal{Answer::retry, std::nullopt};
        if (random.chance(0.8)) refusal.not_before = seconds{random.one_of(waits)};
        closed_until_ = now + refusal.not_before.value_or(seconds{0});
        return refusal;
    }
    std::optional<Refusal> refuse_credential(Micros now) {
        if (now > refused_for) return std::nullopt;
        world_.schedule.faults.count(Fault::unauthorised);
        if (++tries_ > most_tries) world_.oracle.complain("a refused credential is tried again and again");
        return Refusal{Answer::unauthorised, std::nullopt};
    }

    World& world_;
    const Storm storm_;
    const std::vector<RateLimit> limits_;
    std::map<std::int64_t, Micros> planned_at_;  ///< of the other credential
    std::vector<Micros> received_;
    Micros closed_until_{0};
    int refusals_in_a_row_ = 0;
    int tries_ = 0;
};

}  // namespace

Outcome run_storm(Storm storm, std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace);
    Schedule& schedule = world.schedule;
    schedule.faults.heal();  // nothing else goes wrong
    const std::string budget = storm == Storm::rate ? "1/s 80/min 500/h" : "";
    const auto limits = parse_rate_limits(budget).value();
    world.platform.limit(budget);
    Gatekeeper gatekeeper(world, storm, limits);
    world.platform.meet = [&](std::int64_t number, bool posts) { return gatekeeper.meet(number, posts); };
    std::vector<testing::OwedPost> owed;
    for (std::int64_t i = 0; i < pending; ++i) owed.push_back(owe(world.database, 2 * i + 1));
    std::int64_t other = 0;
    const std::function<void()> owe_another = [&] {
        other += 2;
        gatekeeper.plan(other);
        owed.push_back(owe(world.database, other));
        if (schedule.now() < hours{12})
            schedule.after(schedule.random.between(Micros(seconds{20}), Micros(minutes{6})), owe_another);
    };
    schedule.after(minutes{2}, owe_another);
    world.set_up({}, 3);
    while (!all_over(world.database) && schedule.now() < longest && world.is_sound())
        world.run_until(schedule.now() + minutes{10});
    if (!all_over(world.database) && world.is_sound())
        world.oracle.complain("not everything is delivered at the end");
    if (world.is_sound()) world.oracle.judge(owed, world.platform.posts());
    schedule.say("{} posts, {} requests", owed.size(), world.platform.attempts);
    Outcome outcome = world.outcome();
    outcome.owed = static_cast<std::int64_t>(owed.size());
    return outcome;
}

}  // namespace epilogue::sim
