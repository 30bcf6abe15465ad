#include "tests/sim/chaos.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace epilogue::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes longest_convergence{25};
constexpr int fewest_faults = 3;

void lose_database(World& world) {
    world.schedule.say("the database goes down");
    world.database.go_down();
    world.schedule.after(world.schedule.random.between(Micros(seconds{1}), Micros(seconds{30})), [&world] {
        world.schedule.say("the database is back");
        world.database.come_back();
    });
}

/// What hits the machines from outside, again and again.
void strike_again(World& world) {
    Schedule& schedule = world.schedule;
    schedule.after(schedule.random.between(Micros(seconds{1}), Micros(seconds{8})), [&world, &schedule] {
        Faults& faults = schedule.faults;
        if (faults.healed()) return;
        Random& random = schedule.random;
        Host& host = *random.one_of(world.hosts);
        if (faults.strikes(Fault::rebalance)) world.broker.rebalance_soon(seconds{1});
        if (random.chance(5 * faults.rate(Fault::crash))) host.kill();
        if (random.chance(5 * faults.rate(Fault::pause)))
            host.stall(random.between(Micros(seconds{2}), Micros(seconds{100})));
        if (random.chance(faults.rate(Fault::cut_off_from_broker)))
            host.cut_off(random.between(Micros(seconds{2}), Micros(seconds{60})));
        if (!world.database.is_down() && faults.strikes(Fault::database_down)) lose_database(world);
        strike_again(world);
    });
}

/// A schedule without faults proves little.
void demand_faults(World& world) {
    Schedule& schedule = world.schedule;
    const auto is_calm = [&schedule] { return schedule.faults.counts().kinds() < fewest_faults; };
    if (is_calm()) {
        schedule.faults.count(Fault::rebalance);
        world.broker.rebalance_soon(seconds{1});
    }
    const auto running = [&world] {
        return std::find_if(world.hosts.begin(), world.hosts.end(),
                            [](const auto& host) { return host->runs(); });
    };
    while (running() == world.hosts.end()) schedule.step(Micros::max());
    Host& chosen = **running();
    if (is_calm()) chosen.cut_off(schedule.random.between(Micros(seconds{2}), Micros(seconds{20})));
    if (is_calm()) chosen.stall(schedule.random.between(Micros(seconds{2}), Micros(seconds{20})));
    if (is_calm()) chosen.kill();
}

}  // namespace

Outcome go_through_faults(World& world, Micros end, Micros quiet_until) {
    strike_again(world);
    world.run_until(end);
    demand_faults(world);
    world.run_until(world.schedule.now() + seconds{5});
    world.heal();
    world.run_until(quiet_until);
    world.converge(longest_convergence);
    world.judge();
    return world.outcome();
}

Outcome run_schedule(std::uint64_t seed, Trace::Level trace) {
    World world(seed, trace);
    Random& random = world.schedule.random;
    constexpr std::array<std::string_view, 5> budgets{"", "", "", "5/s", "1/s 40/min"};
    world.platform.limit(std::string(random.one_of(budgets)));
    if (random.chance(0.2)) world.platform.become_app(seconds{random.between(20, 300)});
    const Micros end = random.between(Micros(seconds{50}), Micros(seconds{150}));
    world.set_up(draw_workload(random.fork(), world.schedule.faults, world.broker.partitions(), end),
                 random.between(1, 3));
    return go_through_faults(world, end);
}

}  // namespace epilogue::sim
