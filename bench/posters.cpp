#include "bench/posters.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/measuring.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_records.h"
#include "tests/support/ports.h"

namespace epilogue::bench {
namespace {

using namespace std::chrono_literals;

constexpr testing::Milliseconds longest{900'000};
const std::string topic = "posters";

/// When each conversation's posts became visible, in order.
using Visible = std::map<std::string, std::vector<Instant>>;

Visible visible_on(const testing::FakePlatformProcess& platform) {
    Visible visible;
    for (const auto& post : platform.control("GET", "/visible", nullptr, 60s))
        visible[post.at("path").get<std::string>().substr(1)].push_back(
            parse_instant(post.at("created_at").get<std::string>()).value());
    return visible;
}

/// One kind of poster on a database and a platform of its own. It is killed with this object.
class Poster {
  public:
    Poster(const BenchServers& servers, PosterKind kind, const std::string& from, std::filesystem::path camel,
           const std::vector<std::string>& watched)
        : servers_(servers),
          kind_(kind),
          topic_(from),
          camel_(std::move(camel)),
          name_(fmt::format("{}_{}_{}", from, static_cast<int>(kind), ++made_)),
          rig_(servers.rig(from, name_)),
          tables_(servers, name_) {
        if (kind == PosterKind::worker) servers.watch(name_, watched);
    }

    const testing::FakePlatformProcess& platform() const { return rig_.platform(); }
    Cost cost() const { return cost_of(process_->pid()); }

    void start() {
        process_ = std::make_unique<testing::Process>(started());
        pin_to_first_cores(process_->pid());
    }
    /// Returns once so many posts are visible.
    void wait_for(std::size_t posts) { platform().wait_for("visible", posts, longest); }
    /// Returns once nothing more is to be expected: the worker says so; of others, when no post has come for
    /// a while, a longer one as long as posts are missing.
    void wait_for_the_end(std::size_t expected) {
        if (kind_ == PosterKind::worker) {
            testing::eventually("everything is applied and posted", longest, [&] {
                check();
                return tables_.count(
                           "SELECT (SELECT COUNT(*) FROM conversations WHERE timer=1) + "
                           "(SELECT COUNT(*) FROM deliveries WHERE state<>'SENT')") == 0 &&
                       tables_.count("SELECT SUM(next_offset) FROM partition_progress") == end_of_the_log();
            });
            return;
        }
        constexpr auto quiet = 3s;
        constexpr auto longer_quiet = 20s;  // than a group waits for a member that was killed
        std::size_t seen = 0;
        auto since = Clock::now();
        testing::eventually("no post comes any more", longest, [&] {
            check();
            const std::size_t now = platform().counts().at("visible");
            if (now != seen) since = Clock::now();
            seen = now;
            return Clock::now() - since > (now < expected ? longer_quiet : quiet);
        });
    }

  private:
    std::size_t end_of_the_log() const {
        std::size_t end = 0;
        for (const auto& [partition, offset] : rig_.ends()) end += static_cast<std::size_t>(offset);
        return end;
    }
    void check() const {
        if (!process_->running()) throw std::runtime_error(name_of(kind_) + " ended: " + process_->err());
    }
    testing::Process started() const {
        const std::string slack = rig_.platform().url("/slack");
        const std::string token = "a token of the bench";
        const std::string brokers = servers_.broker().bootstrap();
        if (kind_ == PosterKind::worker)
            return rig_.epilogue().start({"worker"}, {{"EPILOGUE_WORKER_HTTP_LISTEN",
                                                       "127.0.0.1:" + std::to_string(testing::free_port())}});
        if (kind_ == PosterKind::camel)
            return testing::Process(
                {.argv = {"java", "-cp", camel_.string() + "/*",
                          "-Dcamel.main.routesIncludePattern=file:" EPILOGUE_BENCH_FOLDER
                          "/baselines/camel/route.yaml",
                          "-Dbench.topic=" + topic_, "-Dbench.brokers=" + brokers, "-Dbench.group=" + name_,
                          "-Dbench.token=" + token, "-Dbench.url=" + slack,
                          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "org.apache.camel.main.Main"}});
        const auto to = servers_.server().settings(name_);
        return testing::Process(
            {.argv = {"/usr/bin/python3", EPILOGUE_BENCH_FOLDER "/baselines/python_poster.py", brokers,
                      topic_, name_, std::to_string(to.port), to.user, to.password, name_, slack, token,
                      kind_ == PosterKind::python_one ? "1" : "64"}});
    }

    static inline int made_ = 0;

    const BenchServers& servers_;
    const PosterKind kind_;
    const std::string topic_;
    const std::filesystem::path camel_;
    const std::string name_;
    const testing::Rig rig_;
    mutable Tables tables_;
    std::unique_ptr<testing::Process> process_;
};

using Ends = std::map<std::string, std::size_t>;

std::size_t total(const Ends& ends) {
    std::size_t all = 0;
    for (const auto& [conversation, count] : ends) all += count;
    return all;
}

std::vector<std::string> all_of(const RecordedTraffic& traffic) {
    std::vector<std::string> ids;
    for (std::size_t number = 0; number < traffic.begun(); ++number) ids.push_back(traffic.id(number));
    return ids;
}

Posted judged(const Visible& visible, const Ends& expected) {
    Posted posted;
    for (const auto& [conversation, ends] : expected) {
        const auto found = visible.find(conversation);
        const std::size_t posts = found == visible.end() ? 0 : found->second.size();
        posted.expected += ends;
        posted.lost += ends - std::min(ends, posts);
        posted.extra += posts - std::min(ends, posts);
    }
    return posted;
}

/// From the first to the last of all.
double seconds_of(const Visible& visible) {
    Instant first = Instant::max();
    Instant last = Instant::min();
    for (const auto& [conversation, times] : visible)
        for (const Instant at : times) {
            first = std::min(first, at);
            last = std::max(last, at);
        }
    return std::max(std::chrono::duration<double>(last - first).count(), 0.001);
}

}  // namespace

std::string name_of(PosterKind kind) {
    static const std::string names[] = {"the worker", "Python, one post at a time", "Python, 64 in flight",
                                        "Camel's route"};
    return names[static_cast<std::size_t>(kind)];
}

PostersLog::PostersLog(const BenchServers& servers, std::size_t events, std::size_t live,
                       std::filesystem::path camel)
    : servers_(servers), events_(events), live_(live), camel_(std::move(camel)), traffic_(topic, live) {
    servers.fill(topic, traffic_, events);
}

Posted PostersLog::read(PosterKind kind, std::size_t kills) const {
    Poster poster(servers_, kind, topic, camel_, all_of(traffic_));
    const std::size_t expected = total(traffic_.ends());
    poster.start();
    for (std::size_t kill = 1; kill <= kills; ++kill) {
        poster.wait_for(expected * kill / (kills + 1));
        poster.start();  // the one before is killed
    }
    poster.wait_for_the_end(expected);
    const Visible visible = visible_on(poster.platform());
    Posted posted = judged(visible, traffic_.ends());
    posted.cost = poster.cost();
    posted.events_per_s = static_cast<double>(events_) / seconds_of(visible);
    return posted;
}

Posted PostersLog::follow(PosterKind kind, std::size_t per_s, std::size_t seconds) const {
    constexpr std::size_t beats_per_s = 100;
    const std::string live_topic = fmt::format("posters_live_{}", static_cast<int>(kind));
    servers_.broker().create_topic(live_topic, partitions);
    RecordedTraffic traffic(live_topic, live_);
    std::vector<std::vector<testing::Record>> beats(seconds * beats_per_s);
    std::vector<std::map<std::string, std::size_t>> ended(beats.size());
    for (std::size_t beat = 0; beat < beats.size(); ++beat)
        for (std::size_t i = 0; i < per_s / beats_per_s; ++i) {
            const auto event = traffic.next();
            beats[beat].push_back({.key = event.conversation_id, .value = event.text});
            if (const auto found = traffic.ends().find(event.conversation_id); found != traffic.ends().end())
                ended[beat][event.conversation_id] = found->second;
        }
    Poster poster(servers_, kind, live_topic, camel_, all_of(traffic));
    poster.start();
    testing::Producer producer(servers_.broker().bootstrap());
    producer.produce(live_topic,
                     {{.key = "the first of all", .value = "{}"}});  // it takes longer than the others
    std::map<std::string, std::vector<Instant>> ends;
    Beat beat(1000ms / beats_per_s);
    for (std::size_t i = 0; i < beats.size(); ++i) {
        const Instant now = system_now();
        for (const auto& [conversation, count] : ended[i]) ends[conversation].resize(count, now);
        producer.produce(live_topic, beats[i]);
        beat.wait();
    }
    poster.wait_for_the_end(total(traffic.ends()));
    const Visible visible = visible_on(poster.platform());
    Posted posted = judged(visible, traffic.ends());
    posted.cost = poster.cost();
    for (const auto& [conversation, times] : ends)
        if (const auto found = visible.find(conversation); found != visible.end())
            for (std::size_t i = 0; i < std::min(times.size(), found->second.size()); ++i)
                posted.delays_s.push_back(std::chrono::duration<double>(found->second[i] - times[i]).count());
    std::ranges::sort(posted.delays_s);
    return posted;
}

}  // namespace epilogue::bench
