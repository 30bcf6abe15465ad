// Compiled into every suite. Shortly before the time that ctest gives it (EPILOGUE_TEST_TIMEOUT, in seconds)
// is over it writes the running case and the backtrace of each thread to standard error, and ends the suite
// as failed. Without the variable it does nothing. Names: c++filt; lines: addr2line with the offsets in
// brackets.
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <boost/test/framework.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_unit.hpp>
#include <boost/test/unit_test.hpp>
#include <dirent.h>
#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int deepest = 64;
sem_t answered;
/// The running case. Written between cases, read in a handler.
std::array<char, 512> running{};

void say(const char* text) {
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
}

int backtrace_signal() {
    return SIGRTMIN + 5;
}

/// In each thread, one after the other.
void on_backtrace(int) {
    std::array<void*, deepest> frames{};
    ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), deepest), STDERR_FILENO);
    ::sem_post(&answered);
}

/// Allocates and locks, which a handler must not: the suite hangs, and is ended if this does, too.
void on_alarm(int) {
    say("\nThis suite hangs, in ");
    say(running.data());
    say(":\n");
    DIR* const tasks = ::opendir("/proc/self/task");
    while (const dirent* const task = tasks == nullptr ? nullptr : ::readdir(tasks)) {
        const long id = std::strtol(task->d_name, nullptr, 10);
        if (id <= 0) continue;
        say("\nthread ");
        say(task->d_name);
        say(":\n");
        if (id == ::syscall(SYS_gettid)) {
            on_backtrace(0);
            ::sem_wait(&answered);
            continue;
        }
        timespec until{};
        ::clock_gettime(CLOCK_REALTIME, &until);
        ++until.tv_sec;
        if (::syscall(SYS_tgkill, ::getpid(), id, backtrace_signal()) != 0 ||
            ::sem_timedwait(&answered, &until) != 0)
            say("(it does not answer)\n");
    }
    ::_exit(EXIT_FAILURE);
}

/// The time ctest gives, less a tenth; 0: it gives none.
unsigned patience() {
    const char* const timeout = std::getenv("EPILOGUE_TEST_TIMEOUT");
    const unsigned long seconds = timeout == nullptr ? 0 : std::strtoul(timeout, nullptr, 10);
    return static_cast<unsigned>(seconds - seconds / 10);
}

class HangReport : public boost::unit_test::test_observer {
  public:
    HangReport() {
        if (patience() == 0) return;
        ::sem_init(&answered, 0, 0);
        std::array<void*, 1> frame{};
        static_cast<void>(::backtrace(frame.data(), 1));  // loads what it needs
        set(SIGALRM, on_alarm);
        set(backtrace_signal(), on_backtrace);
        ::alarm(patience());
        boost::unit_test::framework::register_observer(*this);
    }
    ~HangReport() override { boost::unit_test::framework::deregister_observer(*this); }
    HangReport(const HangReport&) = delete;
    HangReport& operator=(const HangReport&) = delete;

    void test_unit_start(const boost::unit_test::test_unit& unit) override {
        const std::string name = unit.full_name().substr(0, running.size() - 1);
        std::memcpy(running.data(), name.c_str(), name.size() + 1);
    }

  private:
    static void set(int signal, void (*handler)(int)) {
        struct sigaction action {};
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(signal, &action, nullptr);
    }
};

BOOST_TEST_GLOBAL_FIXTURE(HangReport);

}  // namespace
