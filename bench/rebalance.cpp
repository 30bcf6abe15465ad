#include "bench/rebalance.h"

#include <algorithm>
#include <deque>
#include <map>
#include <thread>

#include "bench/measuring.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_records.h"
#include "tests/support/worker_processes.h"

namespace epilogue::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t beats_per_s = 50;
constexpr std::size_t events_a_beat = 4 * partitions_of_the_pool;
constexpr testing::Milliseconds longest{120'000};

/// Events without an end, for as long as it lives.
class Load {
  public:
    Load(const BenchServers& servers, const std::string& topic)
        : thread_([&servers, topic](const std::stop_token& stop) {
              RecordedTraffic traffic(topic, 20 * partitions_of_the_pool);
              testing::Producer producer(servers.broker().bootstrap());
              Beat beat(1000ms / beats_per_s);
              while (!stop.stop_requested()) {
                  std::vector<testing::Record> records;
                  for (std::size_t i = 0; i < events_a_beat; ++i) {
                      const auto event = traffic.next();
                      records.push_back({.key = event.conversation_id, .value = event.text});
                  }
                  producer.produce(topic, records);
                  beat.wait();
              }
          }) {}

  private:
    std::jthread thread_;
};

/// Until each of so many workers has its part of the partitions, and events of all of them were applied.
void wait_until_shared(Tables& tables, std::size_t workers) {
    testing::eventually("every worker has its part", longest, [&] {
        const auto rows = tables.rows(
            "SELECT COUNT(*) FROM partition_progress WHERE next_offset>0 AND owner<>'' GROUP BY owner");
        const auto has_its_part = [&](const SqlRow& row) {
            return std::stoul(row.at(0).value()) == partitions_of_the_pool / workers;
        };
        return rows.size() == workers && std::ranges::all_of(rows, has_its_part);
    });
}

/// How long each partition stands still, read off its stored position.
class Silences {
  public:
    void look(Tables& tables) {
        const auto rows = tables.rows("SELECT partition_id, next_offset FROM partition_progress");
        const auto now = Clock::now();
        for (const SqlRow& row : rows) {
            Seen& seen = seen_[row.at(0).value()];
            if (seen.position != row.at(1).value()) {
                seen.position = row.at(1).value();
                seen.moved_at = now;
            }
            seen.longest = std::max(seen.longest, now - seen.moved_at);
        }
    }

    /// In seconds, ascending.
    std::vector<double> longest() const {
        std::vector<double> all;
        for (const auto& [partition, seen] : seen_)
            all.push_back(std::chrono::duration<double>(seen.longest).count());
        std::ranges::sort(all);
        return all;
    }

  private:
    struct Seen {
        std::string position;
        Clock::time_point moved_at;
        Clock::duration longest{};
    };
    std::map<std::string, Seen> seen_;
};

}  // namespace

std::vector<double> silences_of_a_join(const BenchServers& servers, const std::string& name,
                                       const std::map<std::string, std::string>& properties) {
    servers.broker().create_topic(name, partitions_of_the_pool);
    const testing::Rig rig(
        servers.broker(), servers.server(),
        {.name = name, .partitions = 0, .topic = name, .more = {{"kafka.properties", properties}}});
    std::deque<testing::WorkerProcess> pool;
    for (int i = 0; i < 3; ++i) pool.push_back(rig.epilogue().worker(longest));
    Tables tables(servers, name);
    const Load load(servers, name);
    wait_until_shared(tables, pool.size());

    Silences silences;
    const auto look_for = [&](std::chrono::seconds time) {
        Beat beat(10ms);
        for (const auto end = Clock::now() + time; Clock::now() < end; beat.wait()) silences.look(tables);
    };
    pool.push_back(rig.epilogue().start_worker());
    look_for(12s);
    wait_until_shared(tables, pool.size());
    for (testing::WorkerProcess& worker : pool) worker.process().stop(longest);
    return silences.longest();
}

}  // namespace epilogue::bench
