// A suite that hangs says where, before ctest ends it.
#define BOOST_TEST_MODULE hang_report
#include <condition_variable>
#include <mutex>
#include <thread>

#include <boost/test/unit_test.hpp>

#include "base/process/process.h"
#include "tests/support/text.h"

using namespace epilogue;
using namespace epilogue::testing;

/// Found by its name in a backtrace.
void wait_for_what_never_comes() {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait(lock, [] { return false; });
}

// Only started by the next.
BOOST_AUTO_TEST_CASE(this_hangs, *boost::unit_test::disabled()) {
    std::thread(wait_for_what_never_comes).join();
}

BOOST_AUTO_TEST_CASE(a_suite_that_hangs_names_its_case_and_what_each_thread_is_at) {
    const auto ended = process::run({.argv = {"/proc/self/exe", "--run_test=this_hangs"},
                                     .environment = {{"EPILOGUE_TEST_TIMEOUT", "1"}}},
                                    std::chrono::seconds(60));
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(contains(ended.err, "This suite hangs, in this_hangs:"), ended.err);
    BOOST_TEST(contains(ended.err, "wait_for_what_never_comes"), ended.err);
}

#ifndef EPILOGUE_THREAD_SANITIZER
BOOST_AUTO_TEST_CASE(a_suite_that_is_to_start_no_thread_starts_none) {
    const auto ended = process::run({.argv = {"/proc/self/exe", "--run_test=this_hangs"},
                                     .environment = {{"EPILOGUE_TEST_THREADS", "none"}}},
                                    std::chrono::seconds(60));
    BOOST_TEST(ended.status != 0);
    BOOST_TEST(contains(ended.err, "say THREADS"), ended.err);
}
#endif
