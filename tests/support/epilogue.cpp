#include "tests/support/epilogue.h"

#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "tests/support/database.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_platform_process.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/ports.h"

namespace epilogue::testing {

Settings settings_for(const KafkaBroker& broker, const std::string& topic, const std::string& group) {
    return {{"kafka.brokers", broker.bootstrap()}, {"kafka.topic", topic}, {"kafka.group", group}};
}

Settings settings_for(const Database& server, const std::string& database) {
    return {{"database.host", "127.0.0.1"},
            {"database.port", server.port()},
            {"database.user", server.user()},
            {"database.password", server.password()},
            {"database.name", database},
            {"database.tls", "off"},
            // Agent servers of tests, which rows and registrations name.
            {"egress.allow", std::vector<std::string>{"127.0.0.0/8"}}};
}

Settings settings_for(const FakePlatformProcess& fake_platform) {
    Settings settings;
    for (const std::string platform : {"github", "gitlab", "slack"}) {
        settings[platform + ".api_url"] = fake_platform.url("/" + platform);
        settings[platform + ".token"] = "a token of the tests";
    }
    return settings;
}

Epilogue::Epilogue(const Settings& settings) {
    std::ofstream(config_file()) << toml_of(settings);
}

Command Epilogue::command(const std::vector<std::string>& args) const {
    Command command{.argv = {EPILOGUE_EXECUTABLE}};
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    command.argv.insert(command.argv.end(), {"--config", config_file().string()});
    // They would override the file, or be refused as keys that do not exist.
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view variable(*entry);
        if (variable.starts_with("EPILOGUE_"))
            command.environment[std::string(variable.substr(0, variable.find('=')))] = std::nullopt;
    }
    return command;
}

Finished Epilogue::run(const std::vector<std::string>& args, const std::string& input,
                       std::chrono::milliseconds deadline) const {
    auto complete = command(args);
    complete.input = input;
    return testing::run(complete, deadline);
}

Process Epilogue::start(const std::vector<std::string>& args,
                        const std::map<std::string, std::optional<std::string>>& environment) const {
    auto complete = command(args);
    for (const auto& [name, value] : environment) complete.environment[name] = value;
    return Process(complete);
}

WorkerProcess Epilogue::start_worker() const {
    const auto port = free_port();
    return {start({"worker"}, {{"EPILOGUE_WORKER_HTTP_LISTEN", "127.0.0.1:" + std::to_string(port)}}), port};
}

WorkerProcess Epilogue::worker(std::chrono::milliseconds deadline) const {
    auto worker = start_worker();
    worker.wait_ready(deadline);
    return worker;
}

WorkerProcess::WorkerProcess(Process process, unsigned short port)
    : process_(std::move(process)), port_(port) {}

std::string WorkerProcess::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
}

HttpAnswer WorkerProcess::get(const std::string& path) const {
    HttpRequest request;
    request.url = url(path);
    request.timeout = Milliseconds(5000);
    return http_.send(request);
}

void WorkerProcess::wait_ready(std::chrono::milliseconds deadline) {
    HttpAnswer answer;
    try {
        eventually("the worker is ready", deadline, [&] {
            if (!process_.running()) throw std::runtime_error("the worker ended: " + process_.err());
            answer = get("/readyz");
            return answer.outcome == HttpOutcome::answered && answer.status == 200;
        });
    } catch (const GaveUp& late) {
        throw std::runtime_error(std::string(late.what()) + ": " + answer.cause + answer.body + "\n" +
                                 process_.err());
    }
}

Metrics WorkerProcess::metrics() const {
    const auto answer = get("/metrics");
    if (answer.outcome != HttpOutcome::answered || answer.status != 200)
        throw std::runtime_error("/metrics: " + answer.cause + answer.body);
    return parse_metrics(answer.body);
}

}  // namespace epilogue::testing
