#define BOOST_TEST_MODULE dialogue
#include "sinks/port/dialogue.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/port/transport.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

HttpRequest get(std::string url) {
    HttpRequest request;
    request.url = std::move(url);
    return request;
}

HttpAnswer says(std::string body) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.body = std::move(body);
    return answer;
}

Dialogue<std::string> two_questions(std::string first) {
    auto request = get(first);
    const HttpAnswer one = co_await request;
    auto next = get(first + one.body);
    const HttpAnswer two = co_await next;
    co_return one.body + two.body;
}

/// Awaits another dialogue again and again, as a look-up its pages.
Dialogue<std::string> nested(int rounds) {
    std::string all;
    for (int i = 0; i < rounds; ++i) {
        auto asking = two_questions(std::to_string(i));
        const std::string both = co_await asking;
        all += both;
    }
    auto request = get("last");
    const HttpAnswer last = co_await request;
    co_return all + last.body;
}

Dialogue<int> without_a_question() {
    co_return 7;
}

Dialogue<std::string> nested_without_a_question() {
    auto asking = without_a_question();
    const int seven = co_await asking;
    auto request = get(std::to_string(seven));
    const HttpAnswer answer = co_await request;
    co_return answer.body;
}

/// Counts how many of it live: a frame that is destroyed twice, or never, does not balance.
struct Counted {
    explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
    Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
    Counted(Counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    Counted& operator=(const Counted&) = default;
    Counted& operator=(Counted&&) = default;
    ~Counted() { --*alive_; }

    int* alive_;
};

Dialogue<Counted> inner(Counted mine) {
    const Counted local = mine;
    auto request = get("inner");
    const HttpAnswer answer = co_await request;
    co_return local;
}

Dialogue<Counted> outer(Counted mine) {
    const Counted local = mine;
    auto asking = inner(local);
    const Counted theirs = co_await asking;
    auto request = get("outer");
    const HttpAnswer answer = co_await request;
    co_return theirs;
}

Dialogue<int> fails(bool at_once) {
    if (at_once) throw std::runtime_error("at once");
    auto request = get("a");
    const HttpAnswer answer = co_await request;
    throw std::runtime_error(answer.body);
}

Dialogue<int> awaits_one_that_fails() {
    auto asking = fails(false);
    const int number = co_await asking;
    co_return number;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_dialogue_asks_one_request_after_the_other_and_ends_with_its_outcome) {
    auto dialogue = two_questions("q");
    BOOST_TEST(dialogue.request()->url == "q");
    BOOST_TEST(dialogue.request()->url == "q", "asked again without an answer, it says the same");
    dialogue.answer(says("1"));
    BOOST_TEST(dialogue.request()->url == "q1");
    dialogue.answer(says("2"));
    BOOST_TEST((dialogue.request() == nullptr));
    BOOST_TEST(dialogue.outcome() == "12");
}

BOOST_AUTO_TEST_CASE(nothing_runs_before_the_first_request_is_asked_for) {
    auto dialogue = fails(true);
    BOOST_CHECK_THROW(dialogue.request(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_dialogue_may_await_others) {
    auto dialogue = nested(1000);
    int asked = 0;
    while (const HttpRequest* request = dialogue.request()) {
        ++asked;
        dialogue.answer(says(request->url == "last" ? "." : "x"));
    }
    BOOST_TEST(asked == 2001);
    BOOST_TEST(dialogue.outcome() == std::string(2000, 'x') + ".");

    auto quick = nested_without_a_question();
    BOOST_TEST(quick.request()->url == "7");
    quick.answer(says("end"));
    BOOST_TEST((quick.request() == nullptr));
    BOOST_TEST(quick.outcome() == "end");
}

BOOST_AUTO_TEST_CASE(many_dialogues_go_on_side_by_side) {
    std::vector<Dialogue<std::string>> all;
    for (int i = 0; i < 100; ++i) all.push_back(nested(3));
    for (int round = 0; round < 7; ++round)
        for (auto& dialogue : all) {
            BOOST_REQUIRE((dialogue.request() != nullptr));
            dialogue.answer(says("y"));
        }
    for (auto& dialogue : all) {
        BOOST_TEST((dialogue.request() == nullptr));
        BOOST_TEST(dialogue.outcome() == "yyyyyyy");
    }
}

BOOST_AUTO_TEST_CASE(a_dialogue_that_is_given_up_anywhere_leaves_nothing_behind) {
    for (int steps = 0; steps <= 3; ++steps) {
        int alive = 0;
        {
            auto dialogue = outer(Counted(alive));
            for (int step = 0; step < steps; ++step)
                if (dialogue.request() != nullptr) dialogue.answer(says("x"));
            if (steps == 3) {
                const Counted outcome = dialogue.outcome();
                BOOST_TEST(alive > 0);
            }
        }
        BOOST_TEST(alive == 0, steps << " steps");
    }
}

BOOST_AUTO_TEST_CASE(what_is_thrown_inside_reaches_the_holder) {
    auto dialogue = awaits_one_that_fails();
    BOOST_TEST(dialogue.request()->url == "a");
    BOOST_CHECK_EXCEPTION(
        dialogue.answer(says("inside")), std::runtime_error,
        [](const std::exception& thrown) { return std::string(thrown.what()) == "inside"; });
}

BOOST_AUTO_TEST_CASE(all_requests_of_a_call_share_one_deadline) {
    std::chrono::nanoseconds now = 100s;
    std::vector<std::chrono::milliseconds> left;
    const Transport transport{.send =
                                  [&](const HttpRequest& request) {
                                      left.push_back(request.timeout);
                                      now += 300ms;
                                      return says("x");
                                  },
                              .now = [&] { return now; }};
    BOOST_TEST(run(nested(1), transport, 500ms) == "xxx");
    BOOST_TEST((left == std::vector<std::chrono::milliseconds>{500ms, 200ms, -100ms}));
}

BOOST_AUTO_TEST_CASE(a_line_goes_to_the_writer_and_nowhere_else) {
    std::vector<std::string> lines;
    bool writes = true;
    const Send send = with_lines([](const HttpRequest& request) { return says("sent to " + request.url); },
                                 [&](const std::string& line) {
                                     lines.push_back(line);
                                     return writes;
                                 });
    BOOST_TEST(send(get("https://x")).body == "sent to https://x");
    BOOST_TEST((send(log_line("a line")).outcome == HttpOutcome::answered));
    writes = false;
    const auto refused = send(log_line("another"));
    BOOST_TEST((refused.outcome == HttpOutcome::not_sent));
    BOOST_TEST(refused.cause == "the line could not be written");
    BOOST_TEST((lines == std::vector<std::string>{"a line", "another"}));
}
