// The harness without its servers: waiting, child processes, reading what programs say.
#define BOOST_TEST_MODULE harness
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include <boost/test/unit_test.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/epilogue.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/prometheus_text.h"
#include "tests/support/requirements.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

/// This program again, with one case that is disabled otherwise.
Process this_program_running(const std::string& test_case, const std::string& variable,
                             const std::string& value) {
    return Process({.argv = {std::filesystem::read_symlink("/proc/self/exe"), "--run_test=" + test_case},
                    .environment = {{variable, value}}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(eventually_)

BOOST_AUTO_TEST_CASE(returns_the_first_answer_that_is_true) {
    int asked = 0;
    const auto answer = eventually("the third time", [&]() -> std::optional<int> {
        return ++asked == 3 ? std::optional(asked) : std::nullopt;
    });
    BOOST_TEST(*answer == 3);
}

BOOST_AUTO_TEST_CASE(names_what_did_not_come_about) {
    BOOST_CHECK_EXCEPTION(eventually("pigs fly", 50ms, [] { return false; }), GaveUp,
                          [](const GaveUp& gave_up) {
                              return std::string(gave_up.what()).find("pigs fly") != std::string::npos;
                          });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ports)

BOOST_AUTO_TEST_CASE(no_port_is_given_twice) {
    std::set<unsigned short> given;
    for (int i = 0; i < 100; ++i) BOOST_TEST(given.insert(free_port()).second);
}

BOOST_AUTO_TEST_CASE(no_port_is_given_to_two_processes) {
    free_port();  // a fork from here on tries the same ports in the same order
    std::array<int, 2> told{};
    std::array<int, 2> alive{};
    BOOST_REQUIRE(pipe(told.data()) == 0);
    BOOST_REQUIRE(pipe(alive.data()) == 0);
    const pid_t other = fork();
    BOOST_REQUIRE(other >= 0);
    if (other == 0) {
        close(alive[1]);
        const unsigned short port = free_port();
        char end = 0;
        const bool said = write(told[1], &port, sizeof port) == sizeof port;
        _exit(said && read(alive[0], &end, 1) == 0 ? 0 : 1);
    }
    unsigned short theirs = 0;
    BOOST_TEST(read(told[0], &theirs, sizeof theirs) == static_cast<ssize_t>(sizeof theirs));
    BOOST_TEST(free_port() != theirs);
    for (const int end : {told[0], told[1], alive[0], alive[1]}) close(end);
    int status = -1;
    BOOST_TEST(waitpid(other, &status, 0) == other);
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(process)

BOOST_AUTO_TEST_CASE(run_gives_exit_code_and_both_streams) {
    const auto done = run({.argv = {"sh", "-c", "cat; echo oops >&2; exit 3"}, .input = "in\n"}, 10s);
    BOOST_TEST(done.status == 3);
    BOOST_TEST(done.out == "in\n");
    BOOST_TEST(done.err == "oops\n");
}

BOOST_AUTO_TEST_CASE(environment_is_added_and_taken_away_and_the_folder_is_the_one_asked_for) {
    const TempDir folder;
    const auto done = run({.argv = {"sh", "-c", "echo $GIVEN ${HOME-none}; pwd"},
                           .environment = {{"GIVEN", "value"}, {"HOME", std::nullopt}},
                           .folder = folder.path()},
                          10s);
    BOOST_TEST(done.out == "value none\n" + folder.path().string() + "\n");
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_an_error_at_once) {
    BOOST_CHECK_THROW(Process({{"no-such-program"}}), std::runtime_error);
    BOOST_CHECK_THROW(Process({{"/no/such/program"}}), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_it_and_the_status_says_which) {
    Process process({{"sleep", "600"}});
    BOOST_TEST(process.running());
    BOOST_TEST(!process.wait(20ms).has_value());
    process.signal(SIGTERM);
    BOOST_TEST(process.wait(10s).value() == -SIGTERM);
    BOOST_TEST(!process.running());
}

BOOST_AUTO_TEST_CASE(a_moved_process_is_reached_only_through_its_new_owner) {
    Process first({{"sleep", "600"}});
    Process second = std::move(first);
    first.signal(SIGKILL);
    BOOST_TEST(second.running());
    second.kill9();
    BOOST_TEST(second.wait(0ms).value() == -SIGKILL);
}

BOOST_AUTO_TEST_CASE(stop_kills_what_ignores_sigterm_and_says_so) {
    Process process({{"sh", "-c", "trap '' TERM; echo armed; while :; do sleep 600; done"}});
    eventually("the trap is set", [&] { return process.out() == "armed\n"; });
    BOOST_CHECK_THROW(process.stop(50ms), std::runtime_error);
    BOOST_TEST(is_gone(process.pid()));
}

BOOST_AUTO_TEST_CASE(a_deadline_ends_what_hangs) {
    BOOST_CHECK_THROW(run({{"sleep", "600"}}, 50ms), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(the_destructor_leaves_neither_the_process_nor_its_children) {
    pid_t parent = 0;
    pid_t child = 0;
    {
        Process process({{"sh", "-c", "sleep 600 & echo $!; wait"}});
        parent = process.pid();
        child = std::stoi(eventually("the child is started", [&] {
                              const auto out = process.out();
                              return out.ends_with('\n') ? std::optional(out) : std::nullopt;
                          }).value());
    }
    BOOST_TEST(is_gone(parent));
    eventually("the child is gone", [&] { return is_gone(child); });
}

// Only started by the case below, in a process of its own.
BOOST_AUTO_TEST_CASE(a_test_that_waits_to_be_killed, *boost::unit_test::disabled()) {
    const Process child({{"sleep", "600"}});
    std::cout << "child " << child.pid() << " started" << std::endl;
    ::pause();
}

BOOST_AUTO_TEST_CASE(a_killed_test_leaves_no_process) {
    const TempDir left_behind;  // a killed program removes nothing
    auto test = this_program_running("process/a_test_that_waits_to_be_killed", "TMPDIR", left_behind.path());
    const auto child = eventually("the child is started", [&]() -> std::optional<pid_t> {
        std::smatch found;
        const auto out = test.out();
        if (!std::regex_search(out, found, std::regex("child (\\d+) started"))) return std::nullopt;
        return std::stoi(found[1]);
    });
    test.kill9();
    BOOST_TEST(eventually("the child is gone", [&] { return is_gone(*child); }));
}

BOOST_AUTO_TEST_CASE(it_outlives_the_thread_that_started_it) {
    auto process = std::async(std::launch::async, [] { return Process({{"sleep", "600"}}); }).get();
    BOOST_TEST(!process.wait(100ms).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(requirements)

// Only started by the cases below, in a process of its own.
BOOST_AUTO_TEST_CASE(needs_what_nobody_has, *boost::unit_test::disabled()) {
    require_programs({"sh", "no-such-program"});
}

BOOST_AUTO_TEST_CASE(a_missing_program_fails_the_suite_and_says_how_to_install_it) {
    auto test = this_program_running("requirements/needs_what_nobody_has", "EPILOGUE_ALLOW_SKIP", "0");
    const auto status = test.wait(10s).value();
    BOOST_TEST(status != 0);
    BOOST_TEST(status != 77);
    BOOST_TEST((test.out() + test.err()).find("missing: no-such-program (install with: ops/setup test)") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_missing_program_skips_the_suite_only_when_that_is_allowed) {
    auto test = this_program_running("requirements/needs_what_nobody_has", "EPILOGUE_ALLOW_SKIP", "1");
    BOOST_TEST(test.wait(10s).value() == 77);
    BOOST_TEST(test.err().find("no-such-program") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(the_program)

BOOST_AUTO_TEST_CASE(settings_become_a_file_and_the_later_one_counts) {
    const auto settings = merged({{{"worker.settle_ms", 2000}, {"kafka.topic", "a \"b\""}},
                                  {{"worker.settle_ms", 200},
                                   {"kafka.properties", std::map<std::string, std::string>{{"a.b", "1"}}},
                                   {"security.keys", std::vector<std::string>{"k1", "k2"}}}});
    BOOST_TEST(toml_of(settings) ==
               "kafka.properties = {\"a.b\" = \"1\"}\n"
               "kafka.topic = \"a \\\"b\\\"\"\n"
               "security.keys = [\"k1\", \"k2\"]\n"
               "worker.settle_ms = 200\n");
}

BOOST_AUTO_TEST_CASE(metrics_are_read_by_series_and_summed_by_label) {
    const auto metrics = parse_metrics(
        "# HELP a_total what it counts\n# TYPE a_total counter\n"
        "a_total{sink=\"github\",state=\"SENT\"} 3\na_total{sink=\"a log\",state=\"SENT\"} 4\n"
        "a_total{old_state=\"SENT\"} 100\nb 1.5e3\nc{le=\"+Inf\"} +Inf\n");
    BOOST_TEST(metrics.at("a_total{sink=\"a log\",state=\"SENT\"}") == 4);
    BOOST_TEST(total(metrics, "a_total", {"state=\"SENT\""}) == 7);
    BOOST_TEST(total(metrics, "a_total") == 107);
    BOOST_TEST(total(metrics, "b") == 1500);
    BOOST_TEST(total(metrics, "nothing") == 0);
    BOOST_CHECK_THROW(parse_metrics("a_total"), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()
