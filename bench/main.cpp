// epilogue-bench: the figures of one run. Programs that are compared read the same log in turn, each alone on
// one core: what else the machine does meets all of them.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/figures.h"
#include "bench/rebalance.h"
#include "bench/relay_figures.h"

namespace {

using namespace epilogue::bench;

struct Plan {
    std::size_t events = 400'000;
    std::size_t python_events = 60'000;
    std::size_t rounds = 3;
    std::size_t live_s = 30;
    std::size_t callbacks = 100'000;
    std::size_t relay_s = 20;
    std::size_t relay_conversations = 2000;
    bool only_relay = false;
};

constexpr std::size_t live_conversations = 2000;
constexpr std::size_t live_per_s = 2000;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

std::vector<double> each(const std::vector<Reading>& readings,
                         const std::function<double(const Reading&)>& value) {
    std::vector<double> values;
    for (const auto& reading : readings) values.push_back(value(reading));
    return values;
}

/// Of `a` to `b`, round by round.
double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
    return median(ratios);
}

std::string listed(const std::vector<double>& values, const char* format) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(fmt::format(fmt::runtime(format), value));
    return fmt::format("{}", fmt::join(texts, " "));
}

void row(const std::string& figure, const std::string& value, const std::string& aim,
         const std::string& raw) {
    fmt::print("{:<44} {:>9}  {:<10} {}\n", figure, value, aim, raw);
    std::fflush(stdout);
}

/// Worker, plain librdkafka and Python in turn.
struct Compared {
    std::vector<Reading> worker;
    std::vector<Reading> plain;
    std::vector<Reading> python;
};

Compared compare(const BenchServers& servers, const Plan& plan, const std::vector<std::string>& watched) {
    Compared all;
    for (std::size_t round = 0; round < plan.rounds; ++round) {
        const std::string number = std::to_string(round);
        all.plain.push_back(read_plainly(servers, "backlog", plan.events));
        all.worker.push_back(read_with_worker(servers, "backlog", "bench_" + number, watched, plan.events));
        all.python.push_back(read_with_python(servers, "backlog", "python_" + number,
                                              std::min(plan.events, plan.python_events)));
    }
    return all;
}

void print(const Compared& all, const Plan& plan) {
    const auto rate = [](const Reading& reading) { return reading.events_per_s; };
    const auto peak = [](const Reading& reading) { return reading.cost.peak_mb; };
    const auto cpu_of = [](std::size_t events) {
        return [events](const Reading& reading) {
            return reading.cost.cpu_s * 1e5 / static_cast<double>(events);
        };
    };
    const auto worker = each(all.worker, rate);
    const auto plain = each(all.plain, rate);
    const auto python = each(all.python, rate);
    const auto cpu = each(all.worker, cpu_of(plan.events));
    row("events/s beside plain librdkafka", fmt::format("{:.2f}", median_ratio(worker, plain)), ">= 0.5",
        fmt::format("worker {}, plain {}", listed(worker, "{:.0f}"), listed(plain, "{:.0f}")));
    row("events/s beside the Python consumer", fmt::format("{:.1f}", median_ratio(worker, python)), "",
        fmt::format("Python {}", listed(python, "{:.0f}")));
    row("CPU seconds per 100,000 events", fmt::format("{:.2f}", median(cpu)), "<= 1.0",
        fmt::format("worker {}, plain {}, Python {}", listed(cpu, "{:.2f}"),
                    listed(each(all.plain, cpu_of(plan.events)), "{:.2f}"),
                    listed(each(all.python, cpu_of(std::min(plan.events, plan.python_events))), "{:.2f}")));
    row("peak memory, MB", fmt::format("{:.0f}", median(each(all.worker, peak))), "",
        fmt::format("worker {}, plain {}, Python {}", listed(each(all.worker, peak), "{:.0f}"),
                    listed(each(all.plain, peak), "{:.0f}"), listed(each(all.python, peak), "{:.0f}")));
}

void measure_rebalances(const BenchServers& servers) {
    const auto eager = silences_of_a_join(servers, "join_eagerly", "range");
    const auto cooperative = silences_of_a_join(servers, "join_cooperatively", "cooperative-sticky");
    const auto told = [](const std::vector<double>& silences) {
        return fmt::format("median {:.2f}, longest {:.2f}", median(silences), silences.back());
    };
    row("silence of a partition when a worker joins, eager beside cooperative",
        fmt::format("{:.2f}", std::reduce(eager.begin(), eager.end()) /
                                  std::reduce(cooperative.begin(), cooperative.end())),
        "<= 1",
        fmt::format("seconds of {} partitions, range: {}; cooperative-sticky: {}", eager.size(), told(eager),
                    told(cooperative)));
}

void measure_relay(const BenchServers& servers, const Plan& plan) {
    const auto follow_with = [&](RelayKind kind, const char* topic) {
        return follow(servers, kind, topic, plan.relay_conversations, live_per_s, plan.relay_s);
    };
    const auto told = [](const char* who, const Following& f) {
        return fmt::format(
            "{}: p50 {:.1f}, p99 {:.1f}, highest {:.0f}, {:.0f} events, CPU {:.1f} s, {:.0f} MB", who,
            1000 * f.p50_s, 1000 * f.p99_s, 1000 * f.highest_s, f.read, f.cost.cpu_s, f.cost.peak_mb);
    };
    const auto ours = follow_with(RelayKind::ours, "relay_follows");
    const auto python = follow_with(RelayKind::python, "python_follows");
    row(fmt::format("from server to topic, {} followed, 2,000/s, p99 ms", plan.relay_conversations),
        fmt::format("{:.1f}", 1000 * ours.p99_s), "< 250",
        fmt::format("{}; {}; ratio of CPU {:.2f}; the server itself was {:.0f} ms late", told("relay", ours),
                    told("Python", python), ours.cost.cpu_s / python.cost.cpu_s, 1000 * ours.late_s));
    row("peak memory of a following relay, MB", fmt::format("{:.0f}", ours.cost.peak_mb), "< 200", "");
    const auto post_to = [&](RelayKind kind, const char* topic) {
        return post(servers, kind, topic, plan.relay_conversations, plan.relay_s);
    };
    const auto door = post_to(RelayKind::ours, "relay_takes");
    const auto small = post_to(RelayKind::python, "python_takes");
    const auto cpu_of = [](const Posting& posting, std::size_t seconds) {
        return posting.cost.cpu_s / (posting.events_per_s * static_cast<double>(seconds)) * 1e5;
    };
    row("webhook door, events/s", fmt::format("{:.0f}", door.events_per_s), ">= 5,000",
        fmt::format(
            "p99 of an answer {:.1f} ms, CPU seconds per 100,000 events {:.1f}, {:.0f} MB; Python {:.0f}/s, "
            "p99 {:.1f} ms, CPU {:.1f}, {:.0f} MB; ratio {:.1f}",
            1000 * door.p99_s, cpu_of(door, plan.relay_s), door.cost.peak_mb, small.events_per_s,
            1000 * small.p99_s, cpu_of(small, plan.relay_s), small.cost.peak_mb,
            door.events_per_s / small.events_per_s));
}

void measure(const Plan& plan) {
    leave_first_core();
    const BenchServers servers;
    if (plan.only_relay) return measure_relay(servers, plan);
    RecordedTraffic traffic("backlog", std::min(live_conversations, plan.events / 20));
    std::size_t bytes = 0;
    {
        RecordedTraffic same("backlog", std::min(live_conversations, plan.events / 20));
        for (std::size_t i = 0; i < plan.events; ++i) bytes += same.next().text.size();
    }
    servers.fill("backlog", traffic, plan.events);
    const auto ids = watched(traffic);
    fmt::print(
        "{} events of {} conversations in {} partitions, mean {:.0f} bytes; {} conversations watched\n",
        plan.events, traffic.begun(), partitions,
        static_cast<double>(bytes) / static_cast<double>(plan.events), ids.size());
    const auto compared = compare(servers, plan, ids);
    const Reading& one = compared.worker.front();
    fmt::print(
        "{:.1f} % of the events end a turn, {} posts; {} rounds, what is measured alone on one core\n\n",
        100 * one.ends_per_event, one.posts, plan.rounds);
    print(compared, plan);

    // A slow platform, and as many callbacks that wait for something else.
    const nlohmann::json slow_posts{{{"do", "delay"}, {"method", "POST"}, {"ms", 100}, {"times", -1}}};
    auto all = ids;
    const RecordedTraffic strangers("strangers", 1);
    while (all.size() < plan.callbacks) all.push_back(strangers.id(all.size()));
    const auto slow = read_with_worker(servers, "backlog", "slow", all, plan.events, slow_posts);
    row("events/s, each post answered after 100 ms", fmt::format("{:.0f}", slow.posted_per_s), ">= 10,000",
        fmt::format("until all posts are visible; events alone {:.0f}/s", slow.events_per_s));
    const auto delays = live_delays(servers, "live", "live", live_per_s, plan.live_s);
    const auto at = [&](double part) {
        return 1000 * delays.at(static_cast<std::size_t>(part * static_cast<double>(delays.size() - 1)));
    };
    row("counted to visible at 2,000 events/s, p99 ms", fmt::format("{:.1f}", at(0.99)), "<= 25",
        fmt::format("p50 {:.1f}, highest {:.1f}, of {} posts", at(0.5), at(1), delays.size()));
    row(fmt::format("peak memory, MB, {} ACTIVE callbacks", all.size()),
        fmt::format("{:.0f}", slow.cost.peak_mb), "< 300", "reading the same log");
    measure_rebalances(servers);
    measure_relay(servers, plan);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures a worker beside two small consumers of the same log, and prints the figures.");
    Plan plan;
    app.add_option("--events", plan.events, "in the log that is read")->capture_default_str();
    app.add_option("--python-events", plan.python_events, "of them for the Python consumer, which is slow")
        ->capture_default_str();
    app.add_option("--rounds", plan.rounds, "of each comparison")->capture_default_str();
    app.add_option("--live-s", plan.live_s, "seconds of live events for the delays")->capture_default_str();
    app.add_option("--callbacks", plan.callbacks, "that are ACTIVE while memory is measured")
        ->capture_default_str();
    app.add_option("--relay-s", plan.relay_s, "seconds of events for each relay and door")
        ->capture_default_str();
    app.add_option("--relay-conversations", plan.relay_conversations, "that a relay follows")
        ->capture_default_str();
    app.add_flag("--only-relay", plan.only_relay, "measures the relay alone");
    CLI11_PARSE(app, argc, argv);
    try {
        measure(plan);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
