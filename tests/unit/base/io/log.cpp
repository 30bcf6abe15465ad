#define BOOST_TEST_MODULE log
#include "base/io/log.h"

#include <thread>

#include <boost/test/unit_test.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "log_lines.h"

using namespace epilogue;
using epilogue::testing::lines_of;
using namespace std::chrono_literals;

namespace {

const Instant when = *parse_instant("2026-11-21T08:13:42.407602Z");

std::string text(std::string_view message, const LogFields& fields = {}) {
    return log_line(LogFormat::text, when, LogLevel::info, message, fields);
}

nlohmann::json json(std::string_view message, const LogFields& fields = {}) {
    return nlohmann::json::parse(log_line(LogFormat::json, when, LogLevel::warn, message, fields));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_text_line_has_time_level_message_and_fields) {
    BOOST_TEST(text("batch stored", {{"records", "12"}, {"topic", "conversation.events"}}) ==
               "2026-11-21T08:13:42.407Z info batch stored records=12 topic=conversation.events");
    BOOST_TEST(text("x", {{"why", "no broker"}, {"empty", ""}, {"pair", "a=b"}}) ==
               R"(2026-11-21T08:13:42.407Z info x why="no broker" empty="" pair="a=b")");
}

BOOST_AUTO_TEST_CASE(a_json_line_is_one_object_with_the_same_members) {
    const auto line = json("posted", {{"sink", "github"}, {"url", "https://x/\"y\"\\z"}});
    BOOST_TEST(line["time"] == "2026-11-21T08:13:42.407Z");
    BOOST_TEST(line["level"] == "warn");
    BOOST_TEST(line["message"] == "posted");
    BOOST_TEST(line["url"] == "https://x/\"y\"\\z");
    BOOST_TEST(line.size() == 5U);
}

BOOST_AUTO_TEST_CASE(a_number_is_a_number_in_json_and_a_text_of_digits_stays_text) {
    const auto line = json("claimed", {{"partition", 7}, {"left", std::int64_t{-1}}, {"id", "12"}});
    BOOST_TEST(line["partition"] == 7);
    BOOST_TEST(line["left"] == -1);
    BOOST_TEST(line["id"] == "12");
    BOOST_TEST(text("claimed", {{"partition", 7}}).ends_with(" partition=7"));
}

BOOST_AUTO_TEST_CASE(no_value_can_forge_a_line) {
    const std::string hostile = "a\r\n2026-11-21T08:13:42.407Z error forged\tb\x1B[31m\x7F" +
                                std::string(1, '\0') + "\xC2\x9B\xE2\x80\xA8\xE2\x80\xAE end";
    for (const LogFormat format : {LogFormat::text, LogFormat::json}) {
        const std::string line =
            log_line(format, when, LogLevel::info, hostile, {{"id", hostile}, {hostile, "1"}});
        for (const char c : line) BOOST_TEST((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
        for (const std::string_view sequence : {"\xC2\x9B", "\xE2\x80\xA8", "\xE2\x80\xAE"})
            BOOST_TEST(line.find(sequence) == std::string::npos);
    }
    BOOST_TEST(json("m", {{"id", hostile}})["id"] == hostile);
}

BOOST_AUTO_TEST_CASE(a_quote_does_not_end_a_text_value) {
    BOOST_TEST(text("m", {{"a", R"(x" b="y)"}}).ends_with(R"( a="x\" b=\"y")"));
    BOOST_TEST(text("m", {{"a", R"(x\n)"}}).ends_with(R"( a="x\\n")"));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf8_are_replaced_and_the_rest_stays) {
    BOOST_TEST(json("m", {{"v", "ü\xFF🚀\xE2\x82"}})["v"] == "ü\uFFFD🚀\uFFFD\uFFFD");
    BOOST_TEST(text("m", {{"v", "ü🚀"}}).ends_with(" v=ü🚀"));
}

BOOST_AUTO_TEST_CASE(lines_go_to_standard_error_from_the_chosen_level_on) {
    const auto lines = lines_of([] {
        start_logging(LogLevel::warn, LogFormat::json);
        log_debug("one");
        log_info("two");
        log_warn("three");
        log_error("four", {{"code", "7"}});
        start_logging(LogLevel::debug, LogFormat::text);
        log_debug("five");
    });
    BOOST_REQUIRE(lines.size() == 3U);
    BOOST_TEST(nlohmann::json::parse(lines[0])["message"] == "three");
    BOOST_TEST(nlohmann::json::parse(lines[1])["code"] == "7");
    BOOST_TEST(lines[2].ends_with("Z debug five"));
}

BOOST_AUTO_TEST_CASE(lines_of_many_threads_do_not_mix) {
    const auto lines = lines_of([] {
        start_logging(LogLevel::info, LogFormat::text);
        std::vector<std::jthread> threads;
        for (const char letter : {'a', 'b', 'c', 'd'})
            threads.emplace_back([letter] {
                for (int i = 0; i < 200; ++i) log_info("line", {{"letter", std::string(300, letter)}});
            });
    });
    BOOST_TEST(lines.size() == 800U);
    for (const std::string& line : lines) {
        const std::string value = line.substr(line.rfind('=') + 1);
        BOOST_TEST(value == std::string(300, value.front()));
    }
}

BOOST_AUTO_TEST_CASE(a_warning_is_written_once_in_ten_seconds_and_counts_what_it_left_out) {
    std::chrono::steady_clock::time_point now{};
    RateLimitedLog warnings([&] { return now; });
    BOOST_TEST((warnings.due("kafka") == 0U));
    BOOST_TEST((warnings.due("database") == 0U));
    BOOST_TEST(!warnings.due("kafka").has_value());
    now += 9999ms;
    BOOST_TEST(!warnings.due("kafka").has_value());
    now += 1ms;
    BOOST_TEST((warnings.due("kafka") == 2U));
    BOOST_TEST(!warnings.due("kafka").has_value());
    now += 10s;
    BOOST_TEST((warnings.due("kafka") == 1U));
    BOOST_TEST((warnings.due("database") == 0U));
}

BOOST_AUTO_TEST_CASE(output_is_written_whatever_the_level_is) {
    const auto lines = lines_of([] {
        start_logging(LogLevel::error, LogFormat::text);
        log_info("a message");
        BOOST_TEST(log_output("an output", {{"delivery", "one"}}));
    });
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(lines[0].ends_with("Z info an output delivery=one"));
}

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_says_so) {
    const int kept = ::dup(STDERR_FILENO);
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, STDERR_FILENO);
    const bool on_a_full_disk = log_output("an output", {});
    ::close(STDERR_FILENO);
    const bool closed = log_output("an output", {});
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    ::close(full);
    BOOST_TEST(!on_a_full_disk);
    BOOST_TEST(!closed);
    const auto lines = lines_of([] { BOOST_TEST(log_output("an output", {})); });
    BOOST_TEST(lines.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_warning_left_out_writes_nothing) {
    std::chrono::steady_clock::time_point now{};
    const auto lines = lines_of([&] {
        start_logging(LogLevel::info, LogFormat::text);
        RateLimitedLog warnings([&] { return now; });
        for (int i = 0; i < 3; ++i) warnings.warn("kafka", "no broker answers", {{"brokers", "127.0.0.1:1"}});
        now += 10s;
        warnings.warn("kafka", "no broker answers");
    });
    BOOST_REQUIRE(lines.size() == 2U);
    BOOST_TEST(lines[0].ends_with("Z warn no broker answers brokers=127.0.0.1:1"));
    BOOST_TEST(lines[1].ends_with("Z warn no broker answers held_back=2"));
}
