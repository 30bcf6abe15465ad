#define BOOST_TEST_MODULE metrics
#include "worker/observe/metrics.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/prometheus_text.h"

namespace shown = epilogue::testing;

BOOST_AUTO_TEST_CASE(the_process_shows_itself_under_the_standard_names) {
    const auto seen = shown::parse_metrics(epilogue::Metrics().text());
    for (const char* name :
         {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
          "process_open_fds", "process_max_fds", "process_start_time_seconds", "process_threads"})
        BOOST_TEST(seen.contains(name), name);
    BOOST_TEST(seen.at("process_resident_memory_bytes") > 1e5);
    BOOST_TEST(seen.at("process_open_fds") >= 3);
    const double year_2020 = 1577836800;
    BOOST_TEST(seen.at("process_start_time_seconds") > year_2020);
}

BOOST_AUTO_TEST_CASE(what_is_undelivered_is_shown_by_sink_and_state_and_forgotten_by_who_does_not_count_it) {
    epilogue::Metrics metrics;
    const std::string parked = "epilogue_undelivered{sink=\"slack\",state=\"PARKED\"}";
    const std::string oldest = "epilogue_oldest_undelivered_seconds{sink=\"slack\"}";
    metrics.undelivered({{"slack", {{"PARKED", 3}, {"RETRY", 0}}, 61}, {"github", {{"PARKED", 0}}, 0}});
    auto seen = shown::parse_metrics(metrics.text());
    BOOST_TEST(seen.at(parked) == 3);
    BOOST_TEST(seen.at(oldest) == 61);
    BOOST_TEST(seen.at("epilogue_oldest_undelivered_seconds{sink=\"github\"}") == 0);
    metrics.undelivered({{"slack", {{"PARKED", 2}}, 62}});
    seen = shown::parse_metrics(metrics.text());
    BOOST_TEST(seen.at(parked) == 2);
    BOOST_TEST(!seen.contains("epilogue_oldest_undelivered_seconds{sink=\"github\"}"));
    metrics.forget_pool();
    seen = shown::parse_metrics(metrics.text());
    BOOST_TEST(!seen.contains(parked));
    BOOST_TEST(!seen.contains(oldest));
}
