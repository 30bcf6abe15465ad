#include "bench/bench_servers.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include "tests/support/kafka_records.h"

namespace epilogue::bench {
namespace {

using namespace std::chrono_literals;

/// The servers of the tests are small; these have room for the whole run.
const std::vector<std::string> room{"--innodb-buffer-pool-size=1G", "--innodb-log-file-size=512M"};

cpu_set_t allowed_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    return cores;
}

/// Of those that this process had at first.
std::vector<std::size_t> first_cores(std::size_t count) {
    static const std::vector<std::size_t> all = [] {
        const cpu_set_t allowed = allowed_cores();
        std::vector<std::size_t> cores;
        for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
            if (CPU_ISSET(core, &allowed)) cores.push_back(core);
        return cores;
    }();
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()))};
}

}  // namespace

void leave_first_core() {
    const std::size_t first = first_cores(1).at(0);
    cpu_set_t cores = allowed_cores();
    if (CPU_COUNT(&cores) < 2) return;
    CPU_CLR(first, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

void pin_to_first_cores(pid_t process, std::size_t cores) {
    const auto done =
        testing::run({{"taskset", "-a", "-c", "-p", fmt::format("{}", fmt::join(first_cores(cores), ",")),
                       std::to_string(process)}},
                     10s);
    if (done.status != 0) throw std::runtime_error("taskset: " + done.err);
}

Cost cost_of(pid_t process) {
    const std::string folder = "/proc/" + std::to_string(process) + "/";
    std::ifstream stat(folder + "stat");
    std::string field;
    while (stat >> field && !field.ends_with(')')) {
    }
    constexpr int fields_between = 11;
    for (int i = 0; i < fields_between; ++i) stat >> field;
    double user = 0;
    double system = 0;
    stat >> user >> system;
    Cost cost;
    cost.cpu_s = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
    std::ifstream status(folder + "status");
    while (status >> field)
        if (field == "VmHWM:") status >> cost.peak_mb;
    constexpr double kb_per_mb = 1024;
    cost.peak_mb /= kb_per_mb;
    return cost;
}

BenchServers::BenchServers() : server_(testing::DatabaseKind::mariadb, room) {}

void BenchServers::fill(const std::string& topic, RecordedTraffic& traffic, std::size_t events,
                        int parts) const {
    constexpr std::size_t chunk = 20000;
    constexpr std::chrono::microseconds between{500};
    broker_.create_topic(topic, parts);
    testing::Producer producer(broker_.bootstrap());
    const Instant end = system_now();
    for (std::size_t done = 0; done < events;) {
        std::vector<testing::Record> records;
        for (; done < events && records.size() < chunk; ++done) {
            const auto event = traffic.next();
            records.push_back({.key = event.conversation_id, .value = event.text});
            records.back().at = end - between * static_cast<std::int64_t>(events - done);
        }
        producer.produce(topic, records);
    }
}

void BenchServers::create_database(const std::string& name) const {
    server_.create_database(name);
}

testing::Rig BenchServers::rig(const std::string& topic, const std::string& database,
                               const testing::Settings& more) const {
    return {broker_, server_, {.name = database, .partitions = 0, .topic = topic, .more = more}};
}

void BenchServers::watch(const std::string& database, const std::vector<std::string>& conversations) const {
    constexpr std::size_t rows = 1000;
    for (std::size_t first = 0; first < conversations.size(); first += rows) {
        std::vector<std::string> values;
        for (std::size_t i = first; i < std::min(first + rows, conversations.size()); ++i)
            values.push_back(
                fmt::format(R"(('{}','slack','{{"channel": "C{}"}}'))", conversations[i], conversations[i]));
        server_.query(
            fmt::format(
                "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json) "
                "VALUES {}",
                fmt::join(values, ",")),
            database);
    }
    server_.query(
        "INSERT INTO callback_progress (callback_id, conversation_id, phase, options, adopted_at, "
        "generation) "
        "SELECT id, conversation_id, 'watching', '{\"mode\":\"every_turn\",\"triggers\":[\"finished\","
        "\"awaiting_user_input\",\"error\",\"stuck\"]}', UTC_TIMESTAMP(6), 1 FROM conversation_callbacks "
        "WHERE id NOT IN (SELECT callback_id FROM callback_progress)",
        database);
}

std::vector<std::string> watched(const RecordedTraffic& traffic) {
    std::vector<std::string> ids;
    for (std::size_t number = 0; number < traffic.begun(); number += one_watched_of)
        ids.push_back(traffic.id(number));
    return ids;
}

}  // namespace epilogue::bench
