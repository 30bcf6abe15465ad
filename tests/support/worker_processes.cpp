#include "tests/support/worker_processes.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <signal.h>

#include "tests/support/eventually.h"

namespace epilogue::testing {
namespace {

/// `settings` with one more property for Kafka.
Settings named(Settings settings, const std::string& client_id) {
    auto& properties = settings["kafka.properties"];
    auto table = std::holds_alternative<std::map<std::string, std::string>>(properties)
                     ? std::get<std::map<std::string, std::string>>(properties)
                     : std::map<std::string, std::string>();
    table["client.id"] = client_id;
    properties = std::move(table);
    return settings;
}

}  // namespace

WorkerProcesses::WorkerProcesses(Settings settings, std::size_t places, std::filesystem::path logs)
    : settings_(std::move(settings)), logs_(std::move(logs)) {
    for (std::size_t place = 0; place < places; ++place) members_.push_back(start(place));
}

WorkerProcesses::~WorkerProcesses() {
    for (const auto& member : members_) keep_log(*member);
}

std::unique_ptr<WorkerProcesses::Member> WorkerProcesses::start(std::size_t place) {
    const std::string name = fmt::format("w{}-{}", place, ++started_);
    Epilogue epilogue(named(settings_, name));
    WorkerProcess worker = epilogue.start_worker();
    return std::make_unique<Member>(Member{name, std::move(epilogue), std::move(worker)});
}

void WorkerProcesses::keep_log(Member& member) const {
    if (!logs_.empty()) std::ofstream(logs_ / (member.name + ".log")) << member.worker.process().err();
}

void WorkerProcesses::replace(std::size_t place) {
    keep_log(*members_[place]);
    members_[place] = start(place);
}

std::set<std::string> WorkerProcesses::names() const {
    std::set<std::string> names;
    for (const auto& member : members_) names.insert(member->name);
    return names;
}

bool WorkerProcesses::owns(std::size_t place, const std::string& owner) const {
    return owner.find(fmt::format(":{}:", members_[place]->worker.process().pid())) != std::string::npos;
}

void WorkerProcesses::kill9(const std::vector<std::size_t>& places) {
    for (const std::size_t place : places) members_[place]->worker.process().signal(SIGKILL);
    for (const std::size_t place : places) {
        members_[place]->worker.process().kill9();
        replace(place);
    }
}

void WorkerProcesses::stop(std::size_t place) {
    Member& member = *members_[place];
    member.worker.process().signal(SIGSTOP);
    member.stopped = true;
    member.stopped_at = std::chrono::steady_clock::now();
}

void WorkerProcesses::go_on(std::size_t place) {
    members_[place]->worker.process().signal(SIGCONT);
    members_[place]->stopped = false;
}

std::chrono::steady_clock::duration WorkerProcesses::stopped_for(std::size_t place) const {
    return std::chrono::steady_clock::now() - members_[place]->stopped_at;
}

std::vector<std::size_t> WorkerProcesses::running() const {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < members_.size(); ++place)
        if (!members_[place]->stopped) places.push_back(place);
    return places;
}

std::optional<int> WorkerProcesses::terminate(std::size_t place, std::chrono::milliseconds deadline) {
    WorkerProcess& worker = members_[place]->worker;
    constexpr std::chrono::seconds longest_start{30};
    eventually("the worker listens", longest_start,
               [&] { return worker.get("/healthz").outcome == HttpOutcome::answered; });
    Process& process = worker.process();
    process.signal(SIGTERM);
    const auto status = process.wait(deadline);
    if (!status) process.kill9();
    replace(place);
    return status;
}

void WorkerProcesses::check_alive() {
    constexpr std::size_t shown = 2000;
    for (const auto& member : members_) {
        Process& process = member->worker.process();
        if (process.running()) continue;
        const std::string log = process.err();
        throw std::runtime_error(member->name +
                                 " ended by itself: " + log.substr(log.size() - std::min(log.size(), shown)));
    }
}

}  // namespace epilogue::testing
