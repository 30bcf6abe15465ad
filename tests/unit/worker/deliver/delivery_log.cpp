#define BOOST_TEST_MODULE delivery_log
#include "worker/deliver/delivery_log.h"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "log_lines.h"

using namespace epilogue;
using epilogue::testing::lines_of;
using namespace std::chrono_literals;

namespace {

DeliveryRow row_in(DeliveryState state, int attempt, const std::string& cause = "") {
    DeliveryRow row;
    row.id = DeliveryId("11111111-2222-5333-8444-555555555555");
    row.conversation_id = ConversationId("5f0c7f2e93f54f6c9d358a3f3c1b7a10");
    row.callback_id = {42};
    row.sink = "github";
    row.target = "octo/repo#7";
    row.body = "the agent's own words";
    row.progress.state = state;
    row.progress.attempt = attempt;
    row.progress.cause = cause;
    return row;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_change_of_state_is_one_line_that_says_what_where_and_why) {
    const auto lines = lines_of([] {
        start_logging(LogLevel::info, LogFormat::json);
        DeliveryLog().changed(row_in(DeliveryState::retry, 3, "503 Service Unavailable"));
    });
    BOOST_REQUIRE(lines.size() == 1U);
    auto line = nlohmann::json::parse(lines[0]);
    line.erase("time");
    BOOST_TEST(line == nlohmann::json({{"level", "info"},
                                       {"message", "delivery"},
                                       {"conversation", "5f0c7f2e93f54f6c9d358a3f3c1b7a10"},
                                       {"callback", 42},
                                       {"sink", "github"},
                                       {"target", "octo/repo#7"},
                                       {"delivery", "11111111-2222-5333-8444-555555555555"},
                                       {"state", "RETRY"},
                                       {"attempt", 3},
                                       {"why", "503 Service Unavailable"},
                                       {"trace_id", "11111111222253338444555555555555"}}));
}

BOOST_AUTO_TEST_CASE(no_line_has_a_text_of_a_post_or_a_secret) {
    const std::string token = "ghp_" + std::string(18, 'a') + "1B2c3D4e5F6g7H8i9J";
    const auto lines = lines_of([&] {
        start_logging(LogLevel::info, LogFormat::text);
        DeliveryLog log;
        log.changed(row_in(DeliveryState::sent, 1));
        log.changed(row_in(DeliveryState::failed, 1, "422 you sent " + token));
    });
    BOOST_REQUIRE(lines.size() == 2U);
    for (const std::string& line : lines) {
        BOOST_TEST(line.find("own words") == std::string::npos, line);
        BOOST_TEST(line.find(token) == std::string::npos, line);
    }
}

BOOST_AUTO_TEST_CASE(a_platform_that_is_down_does_not_fill_the_log_and_what_was_left_out_is_counted) {
    std::chrono::steady_clock::time_point now{};
    const auto lines = lines_of([&] {
        start_logging(LogLevel::info, LogFormat::json);
        DeliveryLog log([&] { return now; });
        for (int i = 0; i < 500; ++i) log.changed(row_in(DeliveryState::retry, 1, "503"));
        DeliveryRow other = row_in(DeliveryState::retry, 1, "500");
        other.sink = "slack";
        log.changed(other);
        log.changed(row_in(DeliveryState::sent, 2));
        log.changed(row_in(DeliveryState::retry, 1, "503"));
        now += 10s;
        log.changed(row_in(DeliveryState::retry, 1, "503"));
    });
    BOOST_REQUIRE(lines.size() == DeliveryLog::trouble_lines + 3);
    const auto nth = [&](std::size_t i) { return nlohmann::json::parse(lines.at(i)); };
    for (std::size_t i = 0; i < DeliveryLog::trouble_lines; ++i) BOOST_TEST(!nth(i).contains("held_back"));
    BOOST_TEST(nth(DeliveryLog::trouble_lines)["sink"] == "slack");
    const auto sent = nth(DeliveryLog::trouble_lines + 1);
    BOOST_TEST(sent["state"] == "SENT");
    BOOST_TEST(sent["held_back"] == 500 - DeliveryLog::trouble_lines);
    BOOST_TEST(nth(DeliveryLog::trouble_lines + 2)["held_back"] == 1);
}

BOOST_AUTO_TEST_CASE(what_goes_well_is_always_written) {
    const auto lines = lines_of([] {
        start_logging(LogLevel::info, LogFormat::text);
        DeliveryLog log;
        for (int i = 0; i < 100; ++i) {
            log.changed(row_in(DeliveryState::planned, 0));
            log.changed(row_in(DeliveryState::sending, 1));
            log.changed(row_in(DeliveryState::sent, 1));
        }
    });
    BOOST_TEST(lines.size() == 300U);
}
