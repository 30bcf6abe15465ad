#include "ops/embedded_demo/demo_environment.h"

#include <condition_variable>
#include <fstream>
#include <stdexcept>

#include "base/process/ports.h"
#include "base/secret.h"
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

}  // namespace

DemoEnvironment::DemoEnvironment(const std::function<void(const std::string&)>& progress,
                                 const process::Settings& more)
    : log_(log_file()),
      broker_(start_broker(progress)),
      database_(start_database(progress)),
      endpoints_(free_endpoints()) {
    progress("creating the tables");
    create_database(database_.administrator());
    write_config_file(more);
    config_ = required(load_config(config_file().string(), {}, config_schema()));
    required(migrate(*required(MysqlSession::open(mysql_settings(config_)))));
    store_ = std::make_unique<MysqlStore>(mysql_settings(config_), StoreObserver{});
}

DemoEnvironment::~DemoEnvironment() {
    for (auto& worker : workers_) worker.request_stop();  // all at once, so that they drain side by side
    workers_.clear();
}

void DemoEnvironment::write_config_file(const process::Settings& more) const {
    const auto key = folder_.path() / "key";
    std::ofstream(key) << new_key() << "\n";
    process::Settings settings{
        {"kafka.brokers", broker_->address()},
        {"kafka.topic", topic},
        // Members that end without leaving the group hold it up for as long as a session may last.
        {"kafka.properties", std::map<std::string, std::string>{{"session.timeout.ms", "6000"}}},
        {"database.socket", database_.administrator().socket},
        {"database.user", "root"},
        {"database.name", database},
        {"database.tls", "off"},
        {"security.keys", std::vector<std::string>{"file:" + key.string()}},
        {"worker.settle_ms", 1000},
        {"worker.drain_s", 5},
        {"worker.http_listen", endpoints_.front()}};
    for (const std::string platform : {"github", "gitlab", "slack"}) {
        settings[platform + ".api_url"] = platform_.url("/" + platform);
        settings[platform + ".token"] = "any will do";
    }
    std::ofstream file(config_file());
    file << process::toml_of(process::merged({settings, more}));
    if (!file.flush()) throw std::runtime_error("cannot write " + config_file().string());
}

void DemoEnvironment::open_threads(std::vector<Scenario>& scenarios) {
    for (Scenario& scenario : scenarios) {
        if (scenario.in_thread)
            scenario.place.thread = begin_thread(platform_, scenario.place, "@openhands please have a look.");
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
            Reloader settings(
                config, [&config] { return Result<Config>(config); }, reloaded);
            const auto ran = run_worker(settings, end);
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
