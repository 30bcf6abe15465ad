#include "base/process/spawn.h"

#include <cerrno>
#include <condition_variable>
#include <future>
#include <mutex>
#include <queue>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace epilogue::process {
namespace {

std::vector<char*> pointers_of(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (const auto& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

bool redirect(const std::filesystem::path& file, int flags, int descriptor) {
    const int opened = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
    return opened >= 0 && ::dup2(opened, descriptor) == descriptor;
}

/// In the child: only what POSIX allows between the fork of a threaded process and exec. Returns on failure.
void become(const Spawn& what, char* const* argv, char* const* environment, pid_t parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
    if (::getppid() != parent) ::_exit(1);  // it died before the line above
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    if (::setpgid(0, 0) != 0) return;
    if (!redirect(what.in, O_RDONLY, STDIN_FILENO)) return;
    if (!redirect(what.out, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO)) return;
    if (!redirect(what.err, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO)) return;
    if (!what.folder.empty() && ::chdir(what.folder.c_str()) != 0) return;
    // Some libraries open sockets without close-on-exec; a child that holds one keeps the connection open.
    if (::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return;
    ::execve(what.program.c_str(), argv, environment);
}

pid_t fork_and_exec(const Spawn& what) {
    const auto argv = pointers_of(what.argv);
    const auto environment = pointers_of(what.environment);
    int report[2];  // closed by exec; carries errno when there was none
    if (::pipe2(report, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        become(what, argv.data(), environment.data(), parent);
        const int failed = errno;
        [[maybe_unused]] const auto written = ::write(report[1], &failed, sizeof failed);
        ::_exit(127);
    }
    const int fork_failed = errno;
    ::close(report[1]);
    int failed = 0;
    const bool started = child > 0 && ::read(report[0], &failed, sizeof failed) <= 0;
    ::close(report[0]);
    if (child < 0) throw std::system_error(fork_failed, std::generic_category(), "fork");
    if (started) return child;
    ::waitpid(child, nullptr, 0);
    throw std::system_error(failed, std::generic_category(), what.program.string());
}

/// The thread that forks. The parent-death signal is sent when the *thread* that forked ends, so this one
/// lives as long as the process.
class Spawner {
  public:
    pid_t start(const Spawn& what) {
        std::packaged_task<pid_t()> task([&what] { return fork_and_exec(what); });
        auto child = task.get_future();
        {
            const std::scoped_lock lock(mutex_);
            tasks_.push(std::move(task));
        }
        changed_.notify_one();
        return child.get();
    }

  private:
    void serve(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
            auto task = std::move(tasks_.front());
            tasks_.pop();
            lock.unlock();
            task();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::queue<std::packaged_task<pid_t()>> tasks_;
    std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};
};

}  // namespace

pid_t spawn(const Spawn& what) {
    static Spawner spawner;
    return spawner.start(what);
}

}  // namespace epilogue::process
