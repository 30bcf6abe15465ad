#include "tests/sim/host.h"

#include <algorithm>

#include "tests/sim/agent.h"
#include "tests/sim/workload.h"
#include "worker/parts.h"

namespace epilogue::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int senders = 4;
constexpr int summarisers = 4;
constexpr int log_readers = 8;
constexpr seconds summary_lease{10};
constexpr Micros shortest_idle = milliseconds{100};
constexpr Micros longest_idle = seconds{4};

}  // namespace

WatchRules watch_rules(const BatchRules& batch) {
    return {batch.inactivity, batch.default_agent_server};
}

/// The worker's parts (worker/parts.h) over the ports of the simulated world.
struct Host::Assembly {
    Assembly(Host& host, const Surroundings& world, Process& process)
        : loop_store(world.database, process),
          post_store(world.database, process),
          sinks(world.platform.sinks()),
          network(world.platform, process),
          final_messages(who_is_asked(world, process)),
          consumer(world.broker, process, [&host] { host.poll_soon(microseconds{50}); }),
          parts({loop_store, post_store, consumer, sinks, network.transport(), *final_messages,
                 world.agent_logs == nullptr ? AgentLogSource() : world.agent_logs->asked_by(process)},
                rules_of(host, world, process.name()),
                {.reconciled =
                     [&schedule = world.schedule](ReconcileReason why, std::string_view result) {
                         schedule.say("a catch-up ({}): {}", name_of(why), result);
                     }},
                {world.metrics, world.readiness}) {}

    static std::unique_ptr<FinalMessageSource> who_is_asked(const Surroundings& world, Process& process) {
        if (world.told_agents != nullptr) return world.told_agents->asked_by(process, world.database);
        return std::make_unique<SimFinalMessageSource>(world.database, process);
    }

    static PartsRules rules_of(Host& host, const Surroundings& world, const std::string& owner) {
        const auto boot_time = [&host] { return host.boot_offset_ + host.world_.schedule.now(); };
        const auto steady = [boot_time] { return SteadyTime(boot_time()); };
        const auto random01 = [&random = world.schedule.random] { return random.real01(); };
        const std::string group = "epilogue";
        const std::string topic = "conversation.events";
        return {
            .installation_id = installation_id,
            .summary = world.summary,
            .asking = world.asking,
            .batch = world.batch,
            .adoption = {.installed_at = Database::start, .watch = watch_rules(world.batch)},
            .sender = {.owner = owner},
            .sender_clock = {[boot_time] { return boot_time(); }, random01},
            .senders = senders,
            .summariser = {.owner = owner,
                           .lease = summary_lease,
                           .deadline = world.asking.deadline,
                           .steady = steady},
            .summarisers = summarisers,
            .queue_limits = host.limits_,
            .queue_clock = {steady, [&host] { return host.world_.database.now() + host.wall_offset_; }},
            .poller = {.topic = topic, .steady = steady},
            .start = OffsetReset::earliest,
            .loop = {.group = group, .topic = topic, .owner = owner, .steady = steady, .random01 = random01},
            .appliers = host.appliers_,
            .reconcile = {.group = group,
                          .topic = topic,
                          .owner = owner,
                          .batch = world.batch,
                          .patience = world.agent_patience},
        };
    }

    SimStore loop_store;
    SimStore post_store;
    SinksInUse sinks;
    SimNetwork network;
    std::unique_ptr<FinalMessageSource> final_messages;
    SimConsumer consumer;
    Parts parts;
};

Host::Host(Surroundings world, int number) : world_(world), number_(number) {
    Random& random = world_.schedule.random;
    boot_offset_ =
        std::chrono::nanoseconds(random.between(Micros(seconds{10}), Micros(std::chrono::hours{100})));
    constexpr std::array<std::size_t, 5> batch_sizes{1, 2, 5, 20, 5000};
    limits_.batch_records = random.one_of(batch_sizes);
    constexpr int most_appliers = 3;
    appliers_ = random.between(1, most_appliers);
    if (world_.schedule.faults.strikes(Fault::clock_skew))
        wall_offset_ = random.between(-Micros(std::chrono::minutes{10}), Micros(std::chrono::minutes{10}));
}

Host::~Host() {
    if (process_) process_->on_death = [] {};
    if (process_) process_->kill();
}

void Host::start() {
    if (process_ || world_.schedule.now() < dead_until_) return;
    Schedule& schedule = world_.schedule;
    process_ = std::make_shared<Process>(schedule, fmt::format("w{}.{}", number_, incarnation_++));
    process_->on_death = [this] { died(); };
    process_->on_still = [this](Micros time) { stood_still(time); };
    polls_ = {&Host::poll};
    sweeps_ = {&Host::sweep};
    catch_ups_ = {&Host::catch_up};
    senders_busy_ = 0;
    summarisers_busy_ = 0;
    logs_read_ = 0;
    worker_ = std::make_unique<Assembly>(*this, world_, *process_);
    turns_.assign(worker_->parts.appliers.size(), {.round = &Host::turn, .idle_for = shortest_idle});
    schedule.say("{} starts", process_->name());
    (void)worker_->parts.poller.open().has_value();
    sweep_soon(schedule.random.between(Micros{0}, Micros(milliseconds{500})));
    adopt_soon();
    if (world_.agent_logs != nullptr) catch_up_soon(until_next_catch_up());
}

void Host::kill() {
    if (!process_) return;
    world_.schedule.faults.count(Fault::crash);
    world_.schedule.say("{} is killed", process_->name());
    const auto dying = process_;
    dying->kill();
}

void Host::keep_dead(Micros time) {
    dead_until_ = world_.schedule.now() + time;
    world_.schedule.at(dead_until_, [this] { start(); });
    kill();
}

void Host::died() {
    Schedule& schedule = world_.schedule;
    world_.broker.drop(worker_->consumer);
    worker_.reset();
    process_.reset();
    schedule.after(schedule.random.between(Micros(milliseconds{500}), Micros(seconds{20})),
                   [this] { start(); });
}

void Host::stall(Micros time) {
    if (!process_) return;
    world_.schedule.faults.count(Fault::pause);
    world_.schedule.say("{} stands still for {} ms", process_->name(), time.count() / 1000);
    process_->stand_still(time);
}

/// The broker waits for its session timeout; then the group goes on without us.
void Host::stood_still(Micros time) {
    constexpr seconds session_timeout{10};
    Schedule& schedule = world_.schedule;
    if (time > session_timeout) {
        schedule.after(session_timeout, [this, process = std::weak_ptr(process_)] {
            const auto still = process.lock();
            if (!still || still != process_ || !still->stands_still() ||
                !world_.broker.is_member(worker_->consumer))
                return;
            worker_->consumer.expel();
            world_.broker.drop(worker_->consumer);
        });
    }
    notice_loss();
}

/// After it goes on, the poll thread finds out what the group did meanwhile; the others may be quicker.
void Host::notice_loss() {
    Schedule& schedule = world_.schedule;
    process_->after(Micros{0}, [this, &schedule] {
        process_->after(schedule.random.between(Micros(milliseconds{1}), Micros(seconds{3})), [this] {
            SimConsumer& consumer = worker_->consumer;
            if (!consumer.is_cut_off() && consumer.is_expelled()) consumer.notice_expulsion();
        });
    });
}

void Host::cut_off(Micros time) {
    if (!process_) return;
    constexpr seconds session_timeout{10};
    Schedule& schedule = world_.schedule;
    schedule.faults.count(Fault::cut_off_from_broker);
    schedule.say("{} is cut off from the broker for {} ms", process_->name(), time.count() / 1000);
    worker_->consumer.cut_off(time);
    process_->after(session_timeout, [this] {
        if (!worker_->consumer.is_cut_off() || !world_.broker.is_member(worker_->consumer)) return;
        worker_->consumer.expel();
        world_.broker.drop(worker_->consumer);
    });
    process_->after(time, [this] { notice_loss(); });
}

void Host::heal() {
    if (!process_) {
        start();
        return;
    }
    process_->go_on();
    worker_->consumer.cut_off(Micros{0});
    notice_loss();
}

void Host::soon(Routine& routine, Micros delay) {
    const Micros at = world_.schedule.now() + delay;
    if (routine.under_way || routine.next <= at) return;
    routine.next = at;
    process_->after(delay, [this, &routine, asked = ++routine.asked] {
        if (asked == routine.asked) (this->*routine.round)(routine);
    });
}

void Host::run(Routine& routine, std::function<void()> body, std::function<void()> done) {
    routine.next = Micros::max();
    routine.under_way = true;
    process_->start(std::move(body), [&routine, done = std::move(done)] {
        routine.under_way = false;
        done();
    });
}

// --- the poll thread

/// It waits in its polls; instead of that, the scheduler lets it turn while a poll brings something.
void Host::poll(Routine& polls) {
    const std::int64_t brought = worker_->consumer.brought();
    run(
        polls,
        [this] {
            do worker_->parts.poller.turn(milliseconds{0});
            while (worker_->consumer.has_news());
        },
        [this, brought] {
            if (worker_->consumer.brought() == brought) return;
            for (Routine& turns : turns_) turns.idle_for = shortest_idle;
            turns_soon(microseconds{50});
        });
}

// --- the loops' threads

void Host::turns_soon(Micros delay) {
    for (Routine& turns : turns_) soon(turns, delay);
}

/// A loop waits for news; instead of its waiting, the scheduler lets it turn when there may be some.
void Host::turn(Routine& turns) {
    const std::int64_t statements = world_.database.statements;
    const auto number = static_cast<std::size_t>(&turns - turns_.data());
    run(
        turns,
        [this, number] { worker_->parts.appliers[number].loop.turn(milliseconds{0}, std::stop_token{}); },
        [this, &turns, statements] {
            const bool busy = world_.database.statements != statements;
            turns.idle_for = busy ? shortest_idle : std::min(2 * turns.idle_for, longest_idle);
            soon(turns, busy ? Micros{200} : turns.idle_for);
            // The poll thread finds room in a full queue within the time of one poll.
            if (worker_->consumer.has_paused()) poll_soon(milliseconds{100});
            dispatch();
            if (process_) ask_next();
        });
}

// --- the senders, the summarisers and their sweepers
// ------------------------------------------------------------------------------

void Host::dispatch() {
    while (senders_busy_ < senders) {
        const auto task = worker_->parts.outbox.begin();
        if (!task) return;
        ++senders_busy_;
        process_->start([this, task = *task] { worker_->parts.outbox.work_at(task); },
                        [this] {
                            --senders_busy_;
                            dispatch();
                            if (process_) sweep_soon(milliseconds{1});
                        });
        if (!process_) return;  // it died at once
    }
}

void Host::ask_next() {
    while (summarisers_busy_ < summarisers) {
        const auto task = worker_->parts.summarisers.begin();
        if (!task) return;
        ++summarisers_busy_;
        process_->start([this, task = *task] { worker_->parts.summarisers.work_at(task, std::stop_token{}); },
                        [this] {
                            --summarisers_busy_;
                            ask_next();
                            if (process_) dispatch();
                        });
        if (!process_) return;  // it died at once
    }
}

void Host::sweep(Routine& sweeps) {
    run(
        sweeps,
        [this] {
            worker_->parts.outbox.sweep_once();
            worker_->parts.summarisers.sweep_once();
        },
        [this] {
            dispatch();
            if (process_) ask_next();
            if (process_) sweep_soon(until_next_due());
        });
}

/// The reconciler's sweeper.
void Host::catch_up(Routine& catch_ups) {
    run(
        catch_ups, [this] { (void)worker_->parts.reconciler.sweep_once().has_value(); },
        [this] {
            read_logs();
            if (process_) catch_up_soon(until_next_catch_up());
        });
}

/// The reconciler's threads.
void Host::read_logs() {
    while (logs_read_ < log_readers) {
        const auto task = worker_->parts.reconciler.begin();
        if (!task) return;
        ++logs_read_;
        process_->start(
            [this, task = *task] {
                (void)worker_->parts.reconciler.work_at(task, std::stop_token{}).has_value();
            },
            [this] {
                --logs_read_;
                dispatch();
                if (process_) ask_next();
                if (process_) read_logs();
            });
        if (!process_) return;  // it died at once
    }
}

/// They look every second; here when something may have become due.
Micros Host::until_next_catch_up() const {
    constexpr seconds look_every{1};
    const Instant now = world_.database.now();
    Instant next = now + longest_idle;
    for (const auto& [id, row] : world_.database.catch_ups) next = std::min(next, row.next_try_at);
    return std::max(next - now, Micros(look_every)) +
           world_.schedule.random.between(Micros{0}, Micros(milliseconds{100}));
}

/// The adopter looks every two seconds.
void Host::adopt_soon() {
    process_->after(seconds{2}, [this] {
        if (world_.database.foreign.empty()) {
            adopt_soon();
            return;
        }
        process_->start([this] { (void)worker_->parts.adopter.adopt_all().has_value(); },
                        [this] { adopt_soon(); });
    });
}

/// The sweeper looks twice a second; here it looks when something may have become due.
Micros Host::until_next_due() const {
    const Database& database = world_.database;
    const Instant now = database.now();
    Instant next = now + longest_idle;
    const auto consider = [&](const DeliveryRow& row, Instant due) {
        next = std::min(next, std::max(due, row.lease_until.value_or(due)));
    };
    for (const auto& [due, ordinal] : database.due_for_dedup) {
        if (due >= next || next <= now) break;
        consider(database.deliveries.at(ordinal), due);
    }
    for (const std::int64_t ordinal : database.timed) {
        if (next <= now) break;
        const DeliveryRow& row = database.deliveries.at(ordinal);
        consider(row, *row.next_attempt_at);
    }
    for (const auto& [name, stored] : database.windows)
        if (stored.window.waiting && !database.waits_for_platform(name))
            next = std::min(next, stored.open_at);
    for (const auto& [name, row] : database.credentials) {
        if (row.unsettled || row.probe_at) next = std::min(next, row.unsettled ? now : *row.probe_at);
        for (const Breaker* breaker : {&row.posts, &row.look_ups})
            if (breaker->probe_at) next = std::min(next, *breaker->probe_at);
    }
    for (const TurnId& turn : database.owed_summaries)
        next = std::min(next, database.summaries.at(turn).lease_until.value_or(now));
    return std::max(next - now, Micros(milliseconds{1})) +
           world_.schedule.random.between(Micros{0}, Micros(milliseconds{500}));
}

}  // namespace epilogue::sim
