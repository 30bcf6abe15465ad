#include "base/process/process.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process/programs.h"
#include "base/process/spawn.h"

namespace epilogue::process {
namespace {

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string end_of(const std::string& text) {
    constexpr std::size_t shown = 2000;
    return text.size() <= shown ? text : "…" + text.substr(text.size() - shown);
}

std::vector<std::string> environment_with(const Command& command) {
    std::vector<std::string> all;
    for (const auto& [name, value] : command.environment)
        if (value) all.push_back(name + "=" + *value);
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text(*entry);
        if (!command.environment.contains(text.substr(0, text.find('=')))) all.push_back(text);
    }
    return all;
}

std::filesystem::path program_of(const Command& command) {
    const auto& name = command.argv.at(0);
    auto program = name.find('/') == std::string::npos ? find_program(name) : std::filesystem::absolute(name);
    if (program.empty()) throw std::runtime_error(name + " is not installed");
    return program;
}

}  // namespace

Process::Process(const Command& command) : streams_(std::make_unique<TempDir>()) {
    const auto& folder = streams_->path();
    std::ofstream(folder / "in", std::ios::binary) << command.input;
    pid_ = spawn({program_of(command), command.argv, environment_with(command), command.folder, folder / "in",
                  folder / "out", folder / "err"});
    // Not by glibc 2.36's <sys/pidfd.h>, which lacks the extern "C".
    pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    if (pidfd_ >= 0) return;
    const int failed = errno;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw std::system_error(failed, std::generic_category(), "pidfd_open");
}

Process::~Process() {
    if (pidfd_ < 0) return;
    // Reaped only here: until then its number, and its group's, cannot be given to another process.
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(pidfd_);
}

Process::Process(Process&& other) noexcept
    : streams_(std::move(other.streams_)),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)),
      status_(other.status_) {}

Process& Process::operator=(Process&& other) noexcept {
    std::swap(streams_, other.streams_);
    std::swap(pid_, other.pid_);
    std::swap(pidfd_, other.pidfd_);
    std::swap(status_, other.status_);
    return *this;
}

bool Process::running() {
    return !wait(std::chrono::milliseconds(0));
}

void Process::signal(int number) {
    // By the descriptor: an object that was moved from has none, whereas kill(-1) would reach every process.
    ::syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0);
}

std::optional<int> Process::wait(std::chrono::milliseconds deadline) {
    if (status_) return status_;
    const auto end = std::chrono::steady_clock::now() + deadline;
    auto left = deadline;
    for (;;) {
        pollfd ended{pidfd_, POLLIN, 0};
        const int ready = ::poll(&ended, 1, static_cast<int>(left.count()));
        if (ready > 0) break;
        if (ready == 0) return std::nullopt;
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
        if (deadline.count() < 0) continue;
        left = std::max(std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()),
                        std::chrono::milliseconds(0));
    }
    siginfo_t info{};
    if (::waitid(P_PIDFD, static_cast<id_t>(pidfd_), &info, WEXITED | WNOWAIT) != 0)
        throw std::system_error(errno, std::generic_category(), "waitid");
    status_ = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    return status_;
}

int Process::stop(std::chrono::milliseconds deadline) {
    signal(SIGTERM);
    if (const auto status = wait(deadline)) return *status;
    const std::string message = std::to_string(pid_) + " ignored SIGTERM: " + end_of(out() + err());
    kill9();
    throw std::runtime_error(message);
}

void Process::kill9() {
    signal(SIGKILL);
    wait(std::chrono::milliseconds(-1));
}

std::string Process::out() const {
    return text_of(streams_->path() / "out");
}

std::string Process::err() const {
    return text_of(streams_->path() / "err");
}

bool is_gone(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(stat, line)) return true;
    return line.find(") Z ") != std::string::npos;  // "PID (NAME) STATE ..."
}

Finished run(const Command& command, std::chrono::milliseconds deadline) {
    Process process(command);
    const auto status = process.wait(deadline);
    if (!status)
        throw std::runtime_error(command.argv.at(0) + " did not end within " +
                                 std::to_string(deadline.count()) +
                                 " ms: " + end_of(process.out() + process.err()));
    return {*status, process.out(), process.err()};
}

}  // namespace epilogue::process
