#include "ops/embedded_demo/demo_environment.h"

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/ids.h"
#include "base/process/ports.h"
#include "base/secret.h"
#include "ops/fake_platform/platform_api.h"
#include "worker/apply/registration.h"
#include "worker/mysql/migrate.h"
#include "worker/settings.h"
#include "worker/worker.h"

namespace epilogue::demo {
namespace {

using namespace std::chrono_literals;

constexpr int partitions = 4;
constexpr int worker_count = 2;
constexpr auto ask_every = 100ms;
const std::string topic = "conversation.events";
const std::string database = "epilogue";

template <class T>
T required(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().text);
    return std::move(*result);
}
void required(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error().text);
}

using Progress = std::function<void(const std::string&)>;

std::unique_ptr<EmbeddedBroker> start_broker(const Progress& progress) {
    progress("starting a broker");
    return required(EmbeddedBroker::start(topic, partitions));
}

process::DatabaseServer start_database(const Progress& progress) {
    progress("starting a database");
    return {process::mariadb(), {"--skip-networking"}};
}

void create_database(const MysqlSettings& administrator) {
    const auto session = required(MysqlSession::open(administrator));
    required(session->run("CREATE DATABASE " + database + " CHARACTER SET utf8mb4"));
}

std::vector<std::string> free_endpoints() {
    std::vector<std::string> endpoints;
    for (int worker = 0; worker < worker_count; ++worker)
        endpoints.push_back("127.0.0.1:" + std::to_string(process::free_port()));
    return endpoints;
}

std::string slack_ts_of(const FakePlatformServer& platform, std::int64_t id) {
    const auto all = platform.visible();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == id; });
    return fake_platform::slack_ts(*found);
}

/// As `callbacks add` takes it.
std::string processor_json_of(const Place& place) {
    const std::size_t mark = place.path.find_first_of("#!");
    const std::string project = place.path.substr(0, mark);
    const auto with_thread = [&](const char* field) {
        return place.thread.empty() ? "" : fmt::format(R"(, "{}": "{}")", field, place.thread);
    };
    if (place.platform == "slack")
        return fmt::format(R"({{"channel": "{}"{}}})", project, with_thread("thread_ts"));
    const std::string number = place.path.substr(mark + 1);
    if (place.platform == "github")
        return fmt::format(R"({{"repo": "{}", "number": {}{}}})", project, number,
                           place.thread.empty() ? "" : R"(, "review_comment_id": )" + place.thread);
    return fmt::format(R"({{"project": "{}", "iid": {}, "kind": "{}"{}}})", project, number,
                       place.path[mark] == '!' ? "merge_request" : "issue", with_thread("discussion_id"));
}

}  // namespace

DemoEnvironment::DemoEnvironment(const std::function<void(const std::string&)>& progress)
    : log_(log_file()),
      broker_(start_broker(progress)),
      database_(start_database(progress)),
      endpoints_(free_endpoints()) {
    progress("creating the tables");
    create_database(database_.administrator());
    write_config_file();
    config_ = required(load_config(config_file().string(), {}, config_schema()));
    required(migrate(*required(MysqlSession::open(mysql_settings(config_)))));
    store_ = std::make_unique<MysqlStore>(mysql_settings(config_), StoreObserver{});
}

DemoEnvironment::~DemoEnvironment() {
    for (auto& worker : workers_) worker.request_stop();  // all at once, so that they drain side by side
    workers_.clear();
}

void DemoEnvironment::write_config_file() const {
    const auto key = folder_.path() / "key";
    std::ofstream(key) << new_key() << "\n";
    std::ofstream file(config_file());
    // Members that end without leaving the group hold it up for as long as a session may last.
    file << fmt::format(R"([kafka]
brokers = "{}"
topic = "{}"
properties = {{"session.timeout.ms" = 6000}}
[database]
socket = "{}"
user = "root"
name = "{}"
tls = "off"
[security]
keys = ["file:{}"]
[worker]
settle_ms = 1000
drain_s = 5
http_listen = "{}"
[github]
api_url = "{}"
token = "any will do"
[gitlab]
api_url = "{}"
token = "any will do"
[slack]
api_url = "{}"
token = "any will do"
)",
                        broker_->address(), topic, database_.administrator().socket, database, key.string(),
                        endpoints_.front(), platform_.url("/github"), platform_.url("/gitlab"),
                        platform_.url("/slack"));
    if (!file.flush()) throw std::runtime_error("cannot write " + config_file().string());
}

void DemoEnvironment::open_threads(std::vector<Scenario>& scenarios) {
    for (Scenario& scenario : scenarios) {
        if (!scenario.in_thread) continue;
        fake_platform::Comment first;
        first.platform = scenario.place.platform;
        first.place = scenario.place.path;
        first.author = "ada";
        first.body = "@openhands please have a look.";
        if (first.platform == "gitlab") first.thread = sha256_hex(scenario.conversation).substr(0, 40);
        first.id = platform_.seed(first);
        scenario.place.thread = first.platform == "gitlab"   ? first.thread
                                : first.platform == "github" ? std::to_string(first.id)
                                                             : slack_ts_of(platform_, first.id);
    }
}

void DemoEnvironment::register_callback(const Scenario& scenario) {
    RegistrationRequest request;
    request.conversation_id = scenario.conversation;
    request.processor_type = scenario.place.platform;
    request.processor_json = processor_json_of(scenario.place);
    request.options.mode = Mode::every_turn;
    request.watch = watch_rules(config_);
    required(epilogue::register_callback(*store_, required(planner_for(config_, *store_)), request));
}

void DemoEnvironment::start_workers(const std::stop_token& stop) {
    for (const std::string& endpoint : endpoints_) {
        Config config = config_;
        config.worker.http_listen = endpoint;
        workers_.emplace_back([this, config](const std::stop_token& end) {
            const auto ran = run_worker(config, end);
            const std::lock_guard lock(mutex_);
            if (!ran) trouble_ = ran.error().text;
        });
    }
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested() && trouble().empty() &&
           count("SELECT COUNT(*) FROM partition_progress") < partitions)
        stopped.wait_for(lock, stop, ask_every, [] { return false; });
}

std::string DemoEnvironment::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

std::size_t DemoEnvironment::posts_done() {
    return static_cast<std::size_t>(
        count("SELECT COUNT(*) FROM deliveries WHERE state IN ('SENT', 'FAILED', 'PARKED')"));
}

bool DemoEnvironment::is_sent(const Scenario& scenario) {
    return count("SELECT COUNT(*) FROM deliveries WHERE state='SENT' AND conversation_id=?",
                 {scenario.conversation}) > 0;
}

std::int64_t DemoEnvironment::count(const std::string& sql, const std::vector<SqlValue>& values) {
    return std::stoll(required(store_->query(sql, values)).at(0).at(0).value_or("0"));
}

}  // namespace epilogue::demo
