#define BOOST_TEST_MODULE log
#include "sinks/log/log.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "sinks/format/outcome_body.h"
#include "tests/support/golden.h"
#include "tests/unit/sinks/sink_calls.h"

using namespace epilogue;

namespace {

/// A log sink whose lines are taken by `write`.
sink_test::SinkCalls log_to(WriteLine write) {
    return {std::make_shared<LogSink>(), {.send = with_lines({}, std::move(write))}, std::chrono::seconds{1}};
}

/// One that writes to `lines`.
sink_test::SinkCalls log_to(std::vector<std::string>& lines) {
    return log_to([&lines](const std::string& line) {
        lines.push_back(line);
        return true;
    });
}

Post log_post(std::string body) {
    return {.delivery_id = DeliveryId("d-1"),
            .conversation_id = ConversationId("c\n\"1\""),
            .target = LogTarget{},
            .body = std::move(body),
            .intent_at = {}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_log_sink_writes_one_line_whatever_the_text_holds) {
    std::vector<std::string> lines;
    const auto log = log_to(lines);
    const auto body = log.render({.headline = "**Finished**",
                                  .final_message = "a\r\nb\x1b[0m \"c\" @d <!-- e --> \u2028 \u202E",
                                  .facts = "- 1 file",
                                  .link = "https://x.example/1"},
                                 DeliveryId("d-1"));

    const auto attempt = log.create(log_post(body));
    BOOST_CHECK(attempt.answer == Answer::sent);
    BOOST_TEST(attempt.receipt.remote_id == "d-1");
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(lines.front().find('\n') == std::string::npos);
    const auto line = nlohmann::json::parse(lines.front());
    BOOST_TEST(line.at("summary").get<std::string>() ==
               "**Finished**\n\na\nb[0m \"c\" @d <!-- e --> \u2028 \n\n- 1 file\n\nhttps://x.example/1");
    BOOST_TEST(line.at("conversation_id").get<std::string>() == "c\n\"1\"");
    BOOST_TEST(line.at("delivery_id").get<std::string>() == "d-1");
}

BOOST_AUTO_TEST_CASE(a_line_has_the_outcome_as_a_webhook_has_it) {
    std::vector<std::string> lines;
    const auto log = log_to(lines);
    Summary summary{.headline = "**Finished**", .final_message = "Done, @you.", .facts = {}, .link = {}};
    summary.about = {.conversation_id = "c1",
                     .turn = "t1",
                     .verdict = "finished",
                     .outcome = "done",
                     .error_code = {},
                     .requests = {"https://github.com/octo/cat/pull/7"},
                     .steps = 12,
                     .seconds = 340,
                     .tokens_in = 10500,
                     .tokens_out = 900,
                     .cost = 21000};
    Post post = log_post("");
    post.delivery_id = DeliveryId("2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11");
    post.conversation_id = ConversationId("c1");
    post.body = log.render(summary, post.delivery_id);
    log.create(post);
    auto line = nlohmann::ordered_json::parse(lines.at(0));
    // webhook_verified.py compares it with the schema.
    BOOST_TEST(difference_from_file("tests/golden/log/finished.json", line.dump(2) + "\n") == "");
    for (const char* own : {"conversation_id", "delivery_id", "summary"}) line.erase(own);
    BOOST_TEST(line.dump() == outcome_body(summary, post.delivery_id));
}

BOOST_AUTO_TEST_CASE(a_text_that_was_frozen_before_lines_had_the_outcome_is_written_as_it_was) {
    std::vector<std::string> lines;
    log_to(lines).create(log_post("**Finished**\n\n{\"data\": 1}"));
    BOOST_TEST(nlohmann::json::parse(lines.at(0)) ==
               nlohmann::json({{"conversation_id", "c\n\"1\""},
                               {"delivery_id", "d-1"},
                               {"summary", "**Finished**\n\n{\"data\": 1}"}}));
}

BOOST_AUTO_TEST_CASE(a_log_line_is_never_seen_so_an_unknown_one_is_written_again) {
    std::vector<std::string> lines;
    const auto log = log_to(lines);
    const auto post = log_post("x");
    log.create(post);
    const auto lookup = log.find(post);
    BOOST_TEST(lookup.ok);
    BOOST_TEST(lookup.found.empty());
    log.create(post);
    BOOST_REQUIRE(lines.size() == 2U);
    BOOST_TEST(lines[0] == lines[1]);
    BOOST_TEST(!log.remove(post, {"d-1", ""}));
}

BOOST_AUTO_TEST_CASE(a_line_that_could_not_be_written_is_not_sent_and_tried_again) {
    const auto log = log_to([](const std::string&) { return false; });
    const auto attempt = log.create(log_post("x"));
    BOOST_CHECK(attempt.answer == Answer::retry);
    BOOST_TEST(attempt.cause == "the line could not be written");
    BOOST_TEST(attempt.receipt.remote_id.empty());
}

BOOST_AUTO_TEST_CASE(a_log_line_may_hold_malformed_bytes) {
    std::vector<std::string> lines;
    const auto log = log_to(lines);
    BOOST_CHECK(log.create(log_post("a\xff")).answer == Answer::sent);
    BOOST_TEST(nlohmann::json::parse(lines.at(0)).at("summary").get<std::string>() == "a\uFFFD");
}
