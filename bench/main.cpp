// epilogue-bench: the figures of one run. Programs that are compared read the same log in turn, each alone on
// one core: what else the machine does meets all of them.
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/growth.h"
#include "bench/posters.h"
#include "bench/readers.h"
#include "bench/rebalance.h"
#include "bench/relay_figures.h"
#include "bench/report.h"

namespace {

using namespace epilogue::bench;

const std::map<std::string, PosterKind> poster_kinds{{"worker", PosterKind::worker},
                                                     {"python-one", PosterKind::python_one},
                                                     {"python-many", PosterKind::python_many},
                                                     {"camel", PosterKind::camel}};

struct Plan {
    std::size_t events = 400'000;
    std::size_t python_events = 60'000;
    std::size_t rounds = 3;
    std::size_t live_s = 30;
    std::size_t callbacks = 100'000;
    std::size_t poster_events = 60'000;
    std::size_t kills = 3;
    std::vector<std::string> posters{"worker", "python-one", "python-many", "camel"};
    std::size_t relay_s = 20;
    std::size_t relay_conversations = 2000;
    GrowthPlan growth;
    std::string camel;
    std::vector<std::string> sections;
    std::string page;
};

constexpr std::size_t live_conversations = 2000;
constexpr std::size_t live_per_s = 2000;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

/// At `part` of the values, which ascend; 0 of none.
double quantile(const std::vector<double>& values, double part) {
    return values.empty()
               ? 0
               : values.at(static_cast<std::size_t>(part * static_cast<double>(values.size() - 1)));
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

/// A log that is read, in a topic of that name, and the conversations of it that are watched.
struct Backlog {
    Backlog(const BenchServers& servers, const std::string& name, std::size_t length)
        : topic(name), events(length) {
        RecordedTraffic traffic(topic, std::min(live_conversations, length / 20));
        servers.fill(topic, traffic, length);
        ids = watched(traffic);
        conversations = traffic.begun();
    }

    const std::string topic;
    std::size_t events;
    std::size_t conversations = 0;
    std::vector<std::string> ids;
};

/// All readers in turn.
struct Compared {
    std::vector<Reading> worker;
    std::vector<Reading> plain;
    std::vector<Reading> floor;
    std::vector<Reading> python;
};

Compared compare(const BenchServers& servers, const Plan& plan, const Backlog& log) {
    Compared all;
    for (std::size_t round = 0; round < plan.rounds; ++round) {
        const std::string number = std::to_string(round);
        all.plain.push_back(read_plainly(servers, log.topic, log.events));
        all.floor.push_back(read_at_the_floor(servers, log.topic, "floor_" + number, log.events));
        all.worker.push_back(read_with_worker(servers, {log.topic, "bench_" + number, log.events, log.ids}));
        all.python.push_back(read_with_python(servers, log.topic, "python_" + number,
                                              std::min(log.events, plan.python_events)));
    }
    return all;
}

void measure_readers(const BenchServers& servers, const Plan& plan, Report& report) {
    const Backlog log(servers, "backlog", plan.events);
    const Compared all = compare(servers, plan, log);
    const Reading& one = all.worker.front();
    report.begin(
        "Beside other readers",
        fmt::format("{} events of {} conversations in {} partitions, {} watched; {:.1f} % of the events "
                    "end a turn, {} posts; {} rounds; the baselines post nothing",
                    log.events, log.conversations, partitions, log.ids.size(), 100 * one.ends_per_event,
                    one.posts, plan.rounds));
    const auto rate = [](const Reading& reading) { return reading.events_per_s; };
    const auto peak = [](const Reading& reading) { return reading.cost.peak_mb; };
    const auto cpu_of = [](std::size_t events) {
        return [events](const Reading& reading) {
            return reading.cost.cpu_s * 1e5 / static_cast<double>(events);
        };
    };
    const auto worker = each(all.worker, rate);
    const auto beside = [&](const char* name, const std::vector<Reading>& others, const char* goal) {
        const auto rates = each(others, rate);
        report.add(
            {fmt::format("events/s beside {}", name), fmt::format("{:.2f}", median_ratio(worker, rates)),
             goal, fmt::format("worker {}; {} {}", listed(worker, "{:.0f}"), name, listed(rates, "{:.0f}"))});
    };
    beside("plain librdkafka", all.plain, "");
    beside("the floor", all.floor, "");
    beside("the Python consumer", all.python, ">= 2");
    report.add(
        {"events/s", fmt::format("{:.0f}", median(worker)), ">= 100,000", "the median of those above"});
    const auto cpu = each(all.worker, cpu_of(log.events));
    report.add(
        {"CPU seconds per 100,000 events", fmt::format("{:.2f}", median(cpu)), "<= 0.7",
         fmt::format("worker {}; plain {}; floor {}; Python {}", listed(cpu, "{:.2f}"),
                     listed(each(all.plain, cpu_of(log.events)), "{:.2f}"),
                     listed(each(all.floor, cpu_of(log.events)), "{:.2f}"),
                     listed(each(all.python, cpu_of(std::min(log.events, plan.python_events))), "{:.2f}"))});
    report.add(
        {"peak memory, MB", fmt::format("{:.0f}", median(each(all.worker, peak))), "",
         fmt::format("worker {}; plain {}; floor {}; Python {}", listed(each(all.worker, peak), "{:.0f}"),
                     listed(each(all.plain, peak), "{:.0f}"), listed(each(all.floor, peak), "{:.0f}"),
                     listed(each(all.python, peak), "{:.0f}"))});
}

/// A slow platform, many callbacks that wait for something else, and a live log.
void measure_posts(const BenchServers& servers, const Plan& plan, Report& report) {
    report.begin("Posts", "the worker alone on one core");
    const Backlog log(servers, "slow_platform", plan.events);
    const nlohmann::json slow_posts{{{"do", "delay"}, {"method", "POST"}, {"ms", 100}, {"times", -1}}};
    auto all = log.ids;
    const RecordedTraffic strangers("strangers", 1);
    while (all.size() < plan.callbacks) all.push_back(strangers.id(all.size()));
    const auto slow = read_with_worker(servers, {log.topic, "slow", log.events, all, slow_posts});
    report.add({"events/s, each post answered after 100 ms", fmt::format("{:.0f}", slow.posted_per_s),
                ">= 50,000",
                fmt::format("until all {} posts are visible; events alone {:.0f}/s", slow.posts,
                            slow.events_per_s)});
    const auto delays = live_delays(servers, "live", "live", live_per_s, plan.live_s);
    report.add({"counted to visible at 2,000 events/s, p99 ms",
                fmt::format("{:.1f}", 1000 * quantile(delays, 0.99)), "<= 15",
                fmt::format("p50 {:.1f}, highest {:.1f}, of {} posts", 1000 * quantile(delays, 0.5),
                            1000 * quantile(delays, 1), delays.size())});
    report.add({fmt::format("peak memory, MB, {} ACTIVE callbacks", all.size()),
                fmt::format("{:.0f}", slow.cost.peak_mb), "< 300", "reading the same log"});
}

void measure_posters(const BenchServers& servers, const Plan& plan, Report& report) {
    constexpr std::size_t per_s = 500;
    const PostersLog log(servers, plan.poster_events, plan.poster_events / 20, plan.camel);
    report.begin(
        "Beside others that post",
        fmt::format("{} events, every conversation is posted; then the same log with {} kill -9 while it "
                    "posts; then {} events/s live, from the end's event to its post. The worker waits 2 s "
                    "(settle_ms) for what may revoke a `finished`; the others do not. lost/extra: posts "
                    "missing, and posts more than turns ended",
                    plan.poster_events, plan.kills, per_s));
    for (const std::string& name : plan.posters) {
        const auto kind = poster_kinds.at(name);
        if (!log.can_measure(kind)) {
            report.add({name_of(kind), "-", "", "not measured: --camel names no folder of jars"});
            continue;
        }
        const Posted calm = log.read(kind, 0);
        const Posted killed = log.read(kind, plan.kills);
        const Posted live = log.follow(kind, per_s, plan.live_s);
        report.add(
            {fmt::format("{}: lost/extra under {} kill -9", name_of(kind), plan.kills),
             fmt::format("{}/{}", killed.lost, killed.extra), kind == PosterKind::worker ? "0/0" : "",
             fmt::format("of {}; {}/{} without a kill; {:.0f} events/s, CPU {:.1f} s, {:.0f} MB; live: p50 "
                         "{:.2f} s, p99 {:.2f} s",
                         killed.expected, calm.lost, calm.extra, calm.events_per_s, calm.cost.cpu_s,
                         calm.cost.peak_mb, quantile(live.delays_s, 0.5), quantile(live.delays_s, 0.99))});
    }
}

void measure_rebalances(const BenchServers& servers, const Plan&, Report& report) {
    report.begin("A worker joins a loaded pool", "the longest time in which a partition makes no progress");
    const auto eager =
        silences_of_a_join(servers, "join_eagerly", {{"partition.assignment.strategy", "range"}});
    const auto cooperative = silences_of_a_join(servers, "join_cooperatively",
                                                {{"partition.assignment.strategy", "cooperative-sticky"}});
    const auto by_broker =
        silences_of_a_join(servers, "join_by_the_broker", {{"group.protocol", "consumer"}});
    const auto told = [](const std::vector<double>& silences) {
        return fmt::format("median {:.2f}, longest {:.2f}", median(silences), silences.back());
    };
    const auto beside = [&](const std::string& name, const std::vector<double>& silences) {
        report.add({name + " beside range",
                    fmt::format("{:.2f}", std::reduce(silences.begin(), silences.end()) /
                                              std::reduce(eager.begin(), eager.end())),
                    ">= 1",
                    fmt::format("seconds of {} partitions, range (ours): {}; {}: {}", eager.size(),
                                told(eager), name, told(silences))});
    };
    beside("cooperative-sticky", cooperative);
    beside("the consumer protocol", by_broker);
}

void measure_relay(const BenchServers& servers, const Plan& plan, Report& report) {
    report.begin("Relay", "beside a small relay in Python");
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
    report.add(
        {fmt::format("from server to topic, {} followed, 2,000/s, p99 ms", plan.relay_conversations),
         fmt::format("{:.1f}", 1000 * ours.p99_s), "< 250",
         fmt::format("{}; {}; ratio of CPU {:.2f}; the server itself was {:.0f} ms late", told("relay", ours),
                     told("Python", python), ours.cost.cpu_s / python.cost.cpu_s, 1000 * ours.late_s)});
    report.add(
        {"peak memory of a following relay, MB", fmt::format("{:.0f}", ours.cost.peak_mb), "< 200", ""});
    const auto post_to = [&](RelayKind kind, const char* topic) {
        return post(servers, kind, topic, plan.relay_conversations, plan.relay_s);
    };
    const auto door = post_to(RelayKind::ours, "relay_takes");
    const auto small = post_to(RelayKind::python, "python_takes");
    const auto cpu_of = [&](const Posting& posting) {
        return posting.cost.cpu_s / (posting.events_per_s * static_cast<double>(plan.relay_s)) * 1e5;
    };
    report.add(
        {"webhook door, events/s", fmt::format("{:.0f}", door.events_per_s), ">= 5,000",
         fmt::format("p99 of an answer {:.1f} ms, CPU seconds per 100,000 events {:.1f}, {:.0f} MB; Python "
                     "{:.0f}/s, p99 {:.1f} ms, CPU {:.1f}, {:.0f} MB; ratio {:.1f}",
                     1000 * door.p99_s, cpu_of(door), door.cost.peak_mb, small.events_per_s,
                     1000 * small.p99_s, cpu_of(small), small.cost.peak_mb,
                     door.events_per_s / small.events_per_s)});
}

struct Section {
    const char* name;
    void (*measure)(const BenchServers& servers, const Plan& plan, Report& report);
};

constexpr Section sections[] = {
    {"readers", measure_readers},
    {"posts", measure_posts},
    {"posters", measure_posters},
    {"growth", [](const BenchServers& servers, const Plan& plan,
                  Report& report) { measure_growth(servers, plan.growth, report); }},
    {"rebalance", measure_rebalances},
    {"relay", measure_relay},
};

void measure(const Plan& plan, const std::string& command) {
    const std::string machine = this_machine();
    leave_first_core();
    const BenchServers servers;
    Report report;
    for (const Section& section : sections)
        if (plan.sections.empty() || std::ranges::count(plan.sections, section.name) != 0)
            section.measure(servers, plan, report);
    if (plan.page.empty()) return;
    std::ofstream page(plan.page);
    page << report.page(command, machine);
    if (!page.flush()) throw std::runtime_error(plan.page + " cannot be written");
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Section& section : sections) all.emplace_back(section.name);
    return all;
}

/// What bench/run was called with.
std::string command_of(int argc, char** argv) {
    return fmt::format("bench/run{}{}", argc > 1 ? " " : "", fmt::join(argv + 1, argv + argc, " "));
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures Epilogue beside smaller programs that read the same log, and prints the figures.");
    Plan plan;
    app.add_option("--only", plan.sections, "these sections: " + fmt::format("{}", fmt::join(names(), ", ")))
        ->check(CLI::IsMember(names()));
    app.add_option("--page", plan.page, "also writes the figures to this file, as Markdown");
    app.add_option("--events", plan.events, "in the log that is read")->capture_default_str();
    app.add_option("--python-events", plan.python_events, "of them for the Python consumer, which is slow")
        ->capture_default_str();
    app.add_option("--rounds", plan.rounds, "of each comparison")->capture_default_str();
    app.add_option("--live-s", plan.live_s, "seconds of live events for the delays")->capture_default_str();
    app.add_option("--callbacks", plan.callbacks, "that are ACTIVE while memory is measured")
        ->capture_default_str();
    app.add_option("--poster-events", plan.poster_events, "in the log of those that post")
        ->capture_default_str();
    app.add_option("--poster", plan.posters, "of those that post, these")
        ->check(CLI::IsMember(poster_kinds))
        ->capture_default_str();
    app.add_option("--kills", plan.kills, "of each of those that post")->capture_default_str();
    app.add_option("--camel", plan.camel,
                   "folder of the jars of bench/baselines/camel/pom.xml; without it Camel is left out")
        ->envname("EPILOGUE_BENCH_CAMEL")
        ->check(CLI::ExistingDirectory);
    app.add_option("--growth-events", plan.growth.events, "in the log of loops, workers and callbacks")
        ->capture_default_str();
    app.add_option("--growth-rounds", plan.growth.rounds, "of loops and workers")->capture_default_str();
    app.add_option("--growth-lengths", plan.growth.lengths, "of logs")->capture_default_str();
    app.add_option("--growth-callbacks", plan.growth.callbacks, "that are ACTIVE")->capture_default_str();
    app.add_option("--relay-s", plan.relay_s, "seconds of events for each relay and door")
        ->capture_default_str();
    app.add_option("--relay-conversations", plan.relay_conversations, "that a relay follows")
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        measure(plan, command_of(argc, argv));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
