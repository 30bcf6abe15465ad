#include "tests/sim/platform_down.h"

#include <algorithm>
#include <array>

#include "base/rate_limit.h"
#include "tests/sim/pending_posts.h"

namespace epilogue::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Micros first_post = minutes{1};
constexpr Micros fails_at = minutes{5};
constexpr Micros back_at = minutes{30};
constexpr Micros last_post = minutes{32};
constexpr Micros longest = hours{4};
/// The workers die with the first request after each of these.
constexpr std::array<Micros, 3> deaths{minutes{10}, minutes{16}, minutes{22}};
/// After a death a delivery of its worker waits for the lease.
constexpr Micros aftermath = seconds{100};
/// Until the breakers are open.
constexpr Micros notices_within = seconds{30};
constexpr std::size_t requests_a_minute = 20;
/// A look-up takes several requests: its pages are short, and read twice.
constexpr std::size_t looks_a_minute = 8 * requests_a_minute;
constexpr Micros recovers_within = seconds{10};
/// Of the other platform: from its being planned to the platform's receipt, at most.
constexpr Micros prompt = seconds{15};

/// The platform's side.
class FailingPlatform {
  public:
    FailingPlatform(World& world, Down down, const std::vector<RateLimit>& limits)
        : world_(world), down_(down), limits_(limits) {}

    std::optional<Refusal> meet(std::int64_t number, bool posts) {
        const Micros now = world_.schedule.now();
        const bool fails_some_time = number % 2 != 0;
        if (!fails_some_time) {
            const Micros planned = planned_at_[number];
            if (posts && now - planned > prompt && !is_near_death(planned))
                world_.oracle.complain("a post to another platform waited: " + place_of(number).name);
            return std::nullopt;
        }
        if (now >= back_at) first_after_ = std::min(first_after_, now);
        if (posts) note(posted_, now);
        if (now < fails_at || now >= back_at) return std::nullopt;
        kill_at_times(now);
        if (now > fails_at + notices_within) note(posts ? failed_ : looked_, now);
        if (down_ == Down::posts && !posts) return std::nullopt;
        world_.schedule.faults.count(Fault::answer_lost);
        return Refusal{Answer::unknown, std::nullopt};
    }
    void plan(std::int64_t number) { planned_at_[number] = world_.schedule.now(); }

    void judge() {
        if (down_ == Down::all) failed_.insert(failed_.end(), looked_.begin(), looked_.end());
        std::sort(failed_.begin(), failed_.end());
        const auto complain_of = [&](const std::vector<Micros>& calls, std::size_t most, Micros span,
                                     const char* what) {
            for (std::size_t i = most; i < calls.size(); ++i) {
                if (calls[i] - calls[i - most] >= span) continue;
                world_.oracle.complain(fmt::format("{} {} in {} s", most + 1, what,
                                                   std::chrono::duration_cast<seconds>(span).count()));
                return;
            }
        };
        complain_of(failed_, requests_a_minute, minutes{1}, "requests to a platform that is down");
        complain_of(looked_, looks_a_minute, minutes{1}, "look-ups on a platform that takes no posts");
        for (const RateLimit& limit : limits_)
            complain_of(posted_, static_cast<std::size_t>(limit.count), limit.span, "posts");
        if (first_after_ - back_at > recovers_within)
            world_.oracle.complain("a platform that is back is not asked within ten seconds");
        world_.schedule.say("{} requests that failed, {} look-ups meanwhile, the first {} ms after the end",
                            failed_.size(), looked_.size(), (first_after_ - back_at) / milliseconds{1});
    }

  private:
    static void note(std::vector<Micros>& calls, Micros now) { calls.push_back(now); }
    static bool is_near_death(Micros planned) {
        return std::any_of(deaths.begin(), deaths.end(), [&](Micros death) {
            return planned > death - aftermath && planned < death + 2 * aftermath;
        });
    }
    void kill_at_times(Micros now) {
        if (next_death_ == deaths.size() || now < deaths[next_death_]) return;
        ++next_death_;
        world_.schedule.after(milliseconds{1}, [this] {
            for (const auto& host : world_.hosts) host->kill();
        });
    }

    World& world_;
    const Down down_;
    const std::vector<RateLimit> limits_;
    std::map<std::int64_t, Micros> planned_at_;  ///< of the other platform
    std::vector<Micros> posted_;
    std::vector<Micros> failed_;
    std::vector<Micros> looked_;
    Micros first_after_ = longest;
    std::size_t next_death_ = 0;
};

}  // namespace

Outcome run_platform_down(Down down, std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace);
    Schedule& schedule = world.schedule;
    schedule.faults.heal();  // nothing else goes wrong
    const std::string budget = "5/s";
    const auto limits = parse_rate_limits(budget).value();
    world.platform.limit(budget);
    FailingPlatform platform(world, down, limits);
    world.platform.meet = [&](std::int64_t number, bool posts) { return platform.meet(number, posts); };
    std::vector<testing::OwedPost> owed;
    std::int64_t number = 1;
    const std::function<void()> owe_one = [&] {
        owed.push_back(owe(world.database, number));
        number += 2;
        if (schedule.now() < last_post) schedule.after(seconds{1}, owe_one);
    };
    std::int64_t other = 0;
    const std::function<void()> owe_another = [&] {
        other += 2;
        platform.plan(other);
        owed.push_back(owe(world.database, other));
        if (schedule.now() < hours{1})
            schedule.after(schedule.random.between(Micros(seconds{5}), Micros(minutes{1})), owe_another);
    };
    schedule.after(first_post, owe_one);
    schedule.after(minutes{2}, owe_another);
    world.set_up({}, 3);
    const auto is_over = [&] { return schedule.now() > hours{1} && all_over(world.database); };
    while (!is_over() && schedule.now() < longest && world.is_sound())
        world.run_until(schedule.now() + minutes{5});
    if (!is_over() && world.is_sound()) world.oracle.complain("not everything is delivered at the end");
    platform.judge();
    if (world.is_sound()) world.oracle.judge(owed, world.platform.posts());
    schedule.say("{} posts, {} requests", owed.size(), world.platform.attempts);
    Outcome outcome = world.outcome();
    outcome.owed = static_cast<std::int64_t>(owed.size());
    return outcome;
}

}  // namespace epilogue::sim
