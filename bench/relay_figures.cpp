#include "bench/relay_figures.h"

#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/measuring.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"

namespace epilogue::bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr testing::Milliseconds longest{300'000};
const std::string key = "a-key-of-the-bench";

testing::Process load(std::vector<std::string> arguments) {
    std::vector<std::string> argv{"/usr/bin/python3", EPILOGUE_BENCH_FOLDER "/relay_load.py"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return testing::Process({.argv = argv});
}

/// What it printed on its last line.
json told_by(const testing::Process& process) {
    const std::string out = process.out();
    const auto end = out.find_last_not_of('\n');
    const auto begin = out.rfind('\n', end);
    if (end == std::string::npos) throw std::runtime_error("nothing was told: " + process.err());
    return json::parse(out.substr(begin == std::string::npos ? 0 : begin + 1));
}

/// A relay alone on the first core; `followed`: the port of an agent server, 0: it takes webhooks.
class MeasuredRelay {
  public:
    MeasuredRelay(const BenchServers& servers, RelayKind kind, const std::string& topic,
                  unsigned short followed, std::size_t conversations)
        : port_(testing::free_port()),
          rig_(servers.rig(topic, topic)),
          process_(kind == RelayKind::ours ? ours(followed)
                                           : python(servers, topic, followed, conversations)) {
        pin_to_first_cores(process_.pid());
    }

    unsigned short port() const { return port_; }
    testing::Process& process() { return process_; }

  private:
    testing::Process ours(unsigned short followed) const {
        std::map<std::string, std::optional<std::string>> environment{
            {"EPILOGUE_RELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(port_)},
            {"EPILOGUE_RELAY_THREADS", "1"},
            {"EPILOGUE_RELAY_KEYS", "[\"" + key + "\"]"}};
        if (followed != 0)
            environment["EPILOGUE_RELAY_SERVERS"] = "[{url = \"http://127.0.0.1:" + std::to_string(followed) +
                                                    "\", key = \"" + "k" + "\", all = true}]";
        return rig_.epilogue().start({"relay"}, environment);
    }
    testing::Process python(const BenchServers& servers, const std::string& topic, unsigned short followed,
                            std::size_t conversations) const {
        std::vector<std::string> argv{"/usr/bin/python3",
                                      EPILOGUE_BENCH_FOLDER "/python_relay.py",
                                      followed != 0 ? "follow" : "webhook",
                                      servers.broker().bootstrap(),
                                      topic,
                                      std::to_string(followed != 0 ? followed : port_)};
        if (followed != 0) argv.push_back(std::to_string(conversations));
        return testing::Process({.argv = argv});
    }

    const unsigned short port_;
    const testing::Rig rig_;
    testing::Process process_;
};

void require_running(testing::Process& process) {
    if (!process.running()) throw std::runtime_error("it ended: " + process.out() + process.err());
}

}  // namespace

Following follow(const BenchServers& servers, RelayKind kind, const std::string& topic,
                 std::size_t conversations, std::size_t per_s, std::size_t seconds) {
    servers.broker().create_topic(topic, partitions);
    const unsigned short port = testing::free_port();
    auto server = load({"serve", std::to_string(port), std::to_string(conversations), std::to_string(per_s),
                        std::to_string(seconds)});
    auto reader = load({"read", servers.broker().bootstrap(), topic, std::to_string(per_s * seconds)});
    MeasuredRelay relay(servers, kind, topic, port, conversations);
    testing::eventually("all events are read", longest, [&] {
        require_running(relay.process());
        require_running(server);
        return !reader.running();
    });
    Following figures;
    figures.cost = cost_of(relay.process().pid());
    const json read = told_by(reader);
    figures.read = read.at("read");
    figures.p50_s = read.at("p50_s");
    figures.p99_s = read.at("p99_s");
    figures.highest_s = read.at("highest_s");
    figures.late_s = told_by(server).at("late_s");
    relay.process().kill9();
    return figures;
}

Posting post(const BenchServers& servers, RelayKind kind, const std::string& topic, std::size_t conversations,
             std::size_t seconds) {
    servers.broker().create_topic(topic, partitions);
    MeasuredRelay relay(servers, kind, topic, 0, conversations);
    const auto posting = [&](std::size_t for_seconds) {
        auto sender = load({"post", std::to_string(relay.port()), key, std::to_string(conversations),
                            std::to_string(for_seconds)});
        testing::eventually("the senders are through", longest, [&] {
            require_running(relay.process());
            return !sender.running();
        });
        return sender;
    };
    testing::eventually("it takes webhooks", longest, [&] { return posting(1).wait(0ms) == 0; });
    const double before = cost_of(relay.process().pid()).cpu_s;
    const json told = told_by(posting(seconds));
    Posting figures;
    figures.cost = cost_of(relay.process().pid());
    figures.cost.cpu_s -= before;
    figures.events_per_s = told.at("events").get<double>() / told.at("seconds").get<double>();
    figures.p99_s = told.at("p99_s");
    relay.process().kill9();
    return figures;
}

}  // namespace epilogue::bench
