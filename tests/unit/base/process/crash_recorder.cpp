// A process that crashes in a thread: what that thread worked at is recorded, and nothing else is.
#define BOOST_TEST_MODULE crash_recorder
#include "base/process/crash_recorder.h"

#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include <boost/test/unit_test.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace epilogue;

namespace {

/// How a process ended, and what its recorder wrote.
struct Ended {
    int signal = 0;
    std::string recorded;
};

/// A process with a recorder, in which a thread does `work` while another one works at something else.
Ended process_that(const std::function<void()>& work) {
    std::array<int, 2> pipe{};
    BOOST_REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pipe[0]);
        const process::CrashRecorder recorder([&](const UnderWay& what, int) {
            const std::string text = std::string(what.what.view()) + " " + std::string(what.key.view()) +
                                     " " + std::string(what.more.view()) + ";";
            static_cast<void>(::write(pipe[1], text.data(), text.size()));
        });
        const WorkingAt innocent("delivery", "of another thread");
        std::thread(work).join();
        ::_exit(0);
    }
    ::close(pipe[1]);
    Ended ended;
    std::array<char, 256> part{};
    for (ssize_t size = 0; (size = ::read(pipe[0], part.data(), part.size())) > 0;)
        ended.recorded.append(part.data(), static_cast<std::size_t>(size));
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return ended;
}

volatile int deepest = 1 << 30;

int use_up_the_stack(int depth) {
    if (depth == deepest) return 0;
    volatile char frame[1024];
    frame[0] = static_cast<char>(depth);
    return use_up_the_stack(depth + 1) + frame[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_thread_whose_stack_is_used_up_is_recorded_with_its_row_alone) {
    const Ended ended = process_that([] {
        const WorkingAt row("summary", "a conversation", "a turn");
        use_up_the_stack(0);
    });
    BOOST_TEST(ended.signal == SIGSEGV);
    BOOST_TEST(ended.recorded == "summary a conversation a turn;");
}

BOOST_AUTO_TEST_CASE(an_exception_that_is_not_caught_is_recorded) {
    const Ended ended = process_that([] {
        const WorkingAt row("delivery", "a delivery");
        std::terminate();
    });
    BOOST_TEST(ended.signal == SIGABRT);
    BOOST_TEST(ended.recorded == "delivery a delivery ;");
}

BOOST_AUTO_TEST_CASE(what_a_thread_was_done_with_is_not_recorded) {
    const Ended ended = process_that([] {
        { const WorkingAt row("delivery", "a delivery"); }
        ::raise(SIGSEGV);
    });
    BOOST_TEST(ended.signal == SIGSEGV);
    BOOST_TEST(ended.recorded.empty());
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_or_ends_by_itself_records_nothing) {
    const Ended killed = process_that([] {
        const WorkingAt row("delivery", "a delivery");
        ::raise(SIGKILL);
    });
    BOOST_TEST(killed.signal == SIGKILL);
    BOOST_TEST(killed.recorded.empty());
    BOOST_TEST(process_that([] { const WorkingAt row("delivery", "a delivery"); }).recorded.empty());
}

BOOST_AUTO_TEST_CASE(the_process_of_the_recorder_ends_with_it) {
    // Only by its own end can the pipe be read to its end.
    const Ended ended = process_that([] {
        {
            const process::CrashRecorder second([](const UnderWay&, int) {});
        }
        ::raise(SIGABRT);
    });
    BOOST_TEST(ended.signal == SIGABRT);
}
