#include "tests/chaos/chaos_run.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/chaos/history.h"
#include "tests/chaos/nemesis.h"
#include "tests/chaos/platform_log.h"
#include "tests/chaos/workload.h"
#include "tests/support/eventually.h"
#include "tests/support/position_watch.h"

namespace epilogue::testing {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t workers = 3;
constexpr int partitions = 6;
constexpr Timing timing{.lease = 7s, .drain = 10s};
constexpr Milliseconds longest_until_stable = 90s;
constexpr Milliseconds longest_until_durable = 60s;
constexpr Milliseconds longest_convergence = 300s;

/// How often each fault is injected in the short form; kills make up for those that found nothing to hit.
const std::vector<std::pair<ChaosFault, int>> short_form{{ChaosFault::kill_with_request_open, 9},
                                                         {ChaosFault::kill_before_record, 6},
                                                         {ChaosFault::pause, 6},
                                                         {ChaosFault::terminate, 3},
                                                         {ChaosFault::restart_broker, 1},
                                                         {ChaosFault::restart_database, 2},
                                                         {ChaosFault::kill_sessions, 3},
                                                         {ChaosFault::break_network, 6}};
constexpr std::size_t hands = 5;  // after each of which everything heals

/// Which figure is short of what has to be shown, as the fault that mends it.
std::optional<ChaosFault> missing(const Hits& hits) {
    if (hits.kills_with_request_open < 20 || hits.kills < 30) return ChaosFault::kill_with_request_open;
    if (hits.kills_before_record < 5) return ChaosFault::kill_before_record;
    if (hits.pauses < 5) return ChaosFault::pause;
    if (hits.broker_restarts < 1) return ChaosFault::restart_broker;
    if (hits.database_restarts < 2) return ChaosFault::restart_database;
    return std::nullopt;
}

Settings pool_settings(const Rig& rig, const FaultProxy& to_database, const FaultProxy& to_platform) {
    return merged({rig.settings(),
                   {{"database.port", to_database.port()},
                    {"github.api_url", fmt::format("http://127.0.0.1:{}/github", to_platform.port())}}});
}

class Chaos {
  public:
    explicit Chaos(const ChaosPlan& plan)
        : plan_(plan),
          random_(plan.seed),
          rig_("chaos", partitions,
               {{"worker.senders", 4},
                {"worker.lease_s", timing.lease.count()},
                {"worker.http_timeout_s", 3},
                {"worker.drain_s", timing.drain.count()},
                {"worker.settle_ms", 500},
                {"worker.batch_max_records", 200},
                {"kafka.properties",
                 std::map<std::string, std::string>{{"session.timeout.ms", "6000"},
                                                    {"heartbeat.interval.ms", "1000"},
                                                    {"reconnect.backoff.max.ms", "1000"}}}}),
          to_database_(server_of_this_program().port(), Wire::mysql),
          to_platform_(rig_.platform().port()),
          workload_(random_.fork(), plan.conversations) {}

    bool run() {
        say(fmt::format("seed {}: {} conversations, {} records", plan_.seed, workload_.conversations(),
                        workload_.records()));
        keep_history(rig_);
        WorkerProcesses pool(pool_settings(rig_, to_database_, to_platform_), workers, plan_.logs);
        workload_.register_callbacks(rig_);
        say("every callback is adopted");
        PositionWatch watch(rig_, PositionWatch::Servers::come_and_go);
        Nemesis nemesis(
            rig_, pool, to_database_, to_platform_, timing, random_.fork(),
            [this](const std::string& what) { say(what); },
            [this](const std::string& what) { oracle_.complain(what); });
        slow_posts(rig_.platform());
        began_ = Steady::now();
        plan_.minutes > 0min ? break_long(pool, nemesis) : break_short(pool, nemesis);
        publish(1);
        rig_.platform().rules(nlohmann::json::array());
        converge();
        pool.check_alive();
        return judge(nemesis.hits(), watch);
    }

  private:
    void say(const std::string& what) const {
        fmt::print("{:>8.1f} s  {}\n", std::chrono::duration<double>(Steady::now() - started_).count(), what);
        std::fflush(stdout);
    }

    void publish(double fraction) { producer_.produce(rig_.name(), workload_.take_until(fraction)); }

    std::vector<ChaosFault> draw_deck() {
        std::vector<ChaosFault> deck;
        for (const auto& [fault, times] : short_form)
            deck.insert(deck.end(), static_cast<std::size_t>(times), fault);
        for (std::size_t i = deck.size(); i > 1; --i) std::swap(deck[i - 1], deck[random_.below(i)]);
        // Dealt first, so that each hand gets one, and the other faults happen meanwhile.
        std::stable_partition(deck.begin(), deck.end(),
                              [](ChaosFault fault) { return fault == ChaosFault::pause; });
        return deck;
    }

    static std::vector<ChaosFault> hand_of(const std::vector<ChaosFault>& deck, std::size_t hand) {
        std::vector<ChaosFault> faults;
        for (std::size_t i = hand; i < deck.size(); i += hands) faults.push_back(deck[i]);
        return faults;
    }

    void break_short(WorkerProcesses& pool, Nemesis& nemesis) {
        const auto deck = draw_deck();
        constexpr double reserve = 0.1;  // of the records, for faults that have to be injected once more
        const auto steps = static_cast<double>(deck.size() + hands);
        double step = 0;
        const auto publish_next = [&] { publish((1 - reserve) * ++step / steps); };
        for (std::size_t hand = 0; hand < hands; ++hand) {
            if (hand + 1 == hands) nemesis.lose_no_more_requests();
            for (const ChaosFault fault : hand_of(deck, hand)) {
                publish_next();
                nemesis.inject(fault);
            }
            await_recovery(pool, nemesis, publish_next);
        }
        constexpr int more = 10;
        for (int i = 1; i <= more; ++i) {
            const auto fault = missing(nemesis.hits());
            if (!fault) break;
            publish(1 - reserve + reserve * i / more);
            nemesis.inject(*fault);
            nemesis.heal();
        }
    }

    void break_long(WorkerProcesses& pool, Nemesis& nemesis) {
        const auto part = [&] {
            return std::chrono::duration<double>(Steady::now() - began_) / plan_.minutes;
        };
        while (part() < 1) {
            const auto deck = draw_deck();
            for (std::size_t hand = 0; hand < hands && part() < 1; ++hand) {
                for (const ChaosFault fault : hand_of(deck, hand)) {
                    publish(part());
                    nemesis.inject(fault);
                }
                await_recovery(pool, nemesis, [&] { publish(part()); });
            }
        }
    }

    /// Heals everything, and measures how soon the first new turn is durable once the group is stable.
    void await_recovery(WorkerProcesses& pool, Nemesis& nemesis, const std::function<void()>& publish_next) {
        nemesis.heal();
        eventually("the group is stable", longest_until_stable, [&] {
            pool.check_alive();
            const auto group = broker_of_this_program().group(rig_.name());
            return group.is_stable && group.client_ids == pool.names();
        });
        const std::string stable = rig_.query("SELECT UTC_TIMESTAMP(6)").at(0).at(0).value();
        publish_next();
        const std::string after = fmt::format(
            "SELECT TIMESTAMPDIFF(MICROSECOND, '{0}', MIN(created_at)) FROM deliveries WHERE "
            "created_at>'{0}'",
            stable);
        try {
            const auto micros = eventually("a new turn is durable", longest_until_durable,
                                           [&] { return rig_.query(after).at(0).at(0); });
            recoveries_.push_back(std::chrono::microseconds(std::stoll(*micros)));
            say(fmt::format("healed: a new turn is durable {:.1f} s after the group is stable",
                            static_cast<double>(recoveries_.back().count()) / 1e6));
        } catch (const GaveUp& late) {
            oracle_.complain(late.what());
        }
    }

    void converge() {
        say("everything heals");
        try {
            eventually("all is done", longest_convergence, [&] { return unfinished().empty(); });
        } catch (const GaveUp&) {
            oracle_.complain("does not converge: " + unfinished());
        }
        say("all is done");
    }

    /// What is still to be done; empty: nothing.
    std::string unfinished() const {
        const auto open =
            rig_.number("SELECT COUNT(*) FROM deliveries WHERE state NOT IN ('SENT', 'FAILED', 'PARKED')");
        if (open > 0) return fmt::format("{} deliveries are open", open);
        if (rig_.number("SELECT COUNT(*) FROM conversations WHERE due_at < UTC_TIMESTAMP(6) + INTERVAL 1 "
                        "MINUTE") > 0)
            return "a timer is standing";
        const auto ends = rig_.ends();
        if (rig_.stored() != ends) return "not every record is stored";
        if (rig_.committed() != ends) return "not every record is committed";
        const auto unchecked = rig_.number("SELECT COUNT(*) FROM deliveries WHERE heal_due_at IS NOT NULL");
        return unchecked > 0 ? fmt::format("{} posts are not checked for twins", unchecked) : "";
    }

    bool judge(const Hits& hits, PositionWatch& watch) {
        const auto owed =
            workload_.owed_posts(rig_.query("SELECT installation_id FROM installation").at(0).at(0).value());
        const auto history = judge_history(rig_, rig_.platform().log(), owed, oracle_);
        for (const PositionSample& sample : watch.seen())
            for (const auto& [partition, committed] : sample.committed) {
                const auto stored = sample.stored.find(partition);
                oracle_.offset_committed(partition, committed,
                                         stored == sample.stored.end() ? 0 : stored->second);
            }
        std::vector<SeenPost> seen;
        for (const VisibleComment& comment : rig_.platform().visible())
            seen.push_back({.place = comment.platform + ":" + comment.path,
                            .delivery_id = delivery_id_in(comment.body),
                            .body = comment.body});
        oracle_.judge(owed, seen);
        if (const auto dead = rig_.number("SELECT COUNT(*) FROM dead_letters"); dead > 0)
            oracle_.complain(fmt::format("{} dead letters, though every record is good", dead));
        if (missing(hits)) oracle_.complain(fmt::format("too few hits: {}", name_of(*missing(hits))));
        report(hits, history, watch.samples(), owed.size());
        return oracle_.violations().empty();
    }

    void report(const Hits& hits, const HistoryCounts& history, int samples, std::size_t owed) const {
        const auto counts = rig_.platform().counts();
        const auto violations = [this](std::string_view kind) {
            return std::count_if(
                oracle_.violations().begin(), oracle_.violations().end(),
                [&](const std::string& what) { return what.find(kind) != std::string::npos; });
        };
        fmt::print(
            "seed {}: {} conversations, {} records, {:.0f} s\n"
            "  kills                        {:>6}  ({} with a request open, {} between answer and record)\n"
            "  pauses over session and lease{:>6}\n"
            "  SIGTERM                      {:>6}\n"
            "  restarts                     {:>6}  of the broker, {} of the database\n"
            "  database sessions killed     {:>6}\n"
            "  networks broken              {:>6}  ({} connections to the database cut, {} to the platform)\n"
            "  posts                        {:>6}  owed, {} requests, {} made, {} visible, {} look-ups\n"
            "  writes judged                {:>6}  of positions, {} of deliveries, {} of statuses\n"
            "  committed offsets read       {:>6}  times\n",
            plan_.seed, workload_.conversations(), workload_.records(),
            std::chrono::duration<double>(Steady::now() - started_).count(), hits.kills,
            hits.kills_with_request_open, hits.kills_before_record, hits.pauses, hits.terminations,
            hits.broker_restarts, hits.database_restarts, hits.killed_sessions, hits.broken_networks,
            to_database_.counts().cut, to_platform_.counts().cut, owed, counts.at("attempts"),
            counts.at("applied"), counts.at("visible"), counts.at("lookups"), history.positions,
            history.deliveries, history.statuses, samples);
        fmt::print("  a new turn durable after healing, s:");
        for (const auto& recovery : recoveries_)
            fmt::print(" {:.1f}", static_cast<double>(recovery.count()) / 1e6);
        fmt::print(
            "\n  lost {} and seen twice {} of {} (none of n: with 95 % below {:.2g}); writes by an older "
            "generation {}\n",
            violations("lost: "), violations("duplicate: "), owed, 3.0 / static_cast<double>(owed),
            violations("older generation") + violations("a write by generation"));
        for (const std::string& violation : oracle_.violations()) fmt::print("VIOLATION {}\n", violation);
        fmt::print("{} violations\n", oracle_.violations().size());
    }

    const ChaosPlan plan_;
    const Steady::time_point started_ = Steady::now();
    Steady::time_point began_{};
    Random random_;
    const Rig rig_;
    FaultProxy to_database_;
    FaultProxy to_platform_;
    Workload workload_;
    Producer producer_{broker_of_this_program().bootstrap()};
    Oracle oracle_;
    std::vector<std::chrono::microseconds> recoveries_;
};

}  // namespace

bool run_chaos(const ChaosPlan& plan) {
    return Chaos(plan).run();
}

}  // namespace epilogue::testing
