#define BOOST_TEST_MODULE delivery
#include "worker/core/delivery.h"

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include "tests/support/golden.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr DeliveryState states[] = {DeliveryState::planned, DeliveryState::sending, DeliveryState::unknown,
                                    DeliveryState::retry,   DeliveryState::sent,    DeliveryState::failed,
                                    DeliveryState::parked};

std::vector<std::pair<std::string, DeliveryProgress>> all_rows() {
    const auto row = [](DeliveryState state, int attempt, int lookups, std::string cause) {
        DeliveryProgress progress;
        progress.state = state;
        progress.attempt = attempt;
        progress.lookups = lookups;
        progress.cause = std::move(cause);
        return progress;
    };
    auto almost_given_up = row(DeliveryState::unknown, 1, 1, "too deep");
    almost_given_up.look_failures = most_unusable_looks - 1;
    almost_given_up.unusable_looks = most_unusable_looks - 1;
    auto sent = row(DeliveryState::sent, 1, 0, "");
    sent.remote_id = "7";
    sent.remote_url = "url7";
    return {{"PLANNED", row(DeliveryState::planned, 0, 0, "")},
            {"SENDING", row(DeliveryState::sending, 1, 0, "")},
            {"UNKNOWN, 0 looks", row(DeliveryState::unknown, 1, 0, "lost")},
            {"UNKNOWN, 1 look", row(DeliveryState::unknown, 1, 1, "lost")},
            {"UNKNOWN, 2 looks", row(DeliveryState::unknown, 1, 2, "lost")},
            {"UNKNOWN, 3 looks", row(DeliveryState::unknown, 1, 3, "lost")},
            {"UNKNOWN, 19 looks of no use", almost_given_up},
            {"RETRY", row(DeliveryState::retry, 1, 0, "429")},
            {"SENT", sent},
            {"FAILED", row(DeliveryState::failed, 1, 0, "404")},
            {"PARKED credential", row(DeliveryState::parked, 1, 0, "credential: 401")},
            {"PARKED cannot_look_up", row(DeliveryState::parked, 1, 1, "cannot_look_up: 403")}};
}

std::vector<std::pair<std::string, DeliveryEvent>> all_events() {
    return {{"intent made", IntentMade{}},
            {"answered sent", AnsweredSent{"9", "url9"}},
            {"answered retry", AnsweredRetry{"503", 5s}},
            {"answered refused", AnsweredRefused{"422"}},
            {"answered unauthorised", AnsweredUnauthorised{"401"}},
            {"answer lost", AnswerLost{"timeout"}},
            {"found", FoundOnPlatform{"9", "url9"}},
            {"not found", NotFound{}},
            {"look failed", LookFailed{"502", 7s}},
            {"look of no use", LookFailed{"too deep", 7s, LookFailure::unusable}},
            {"look refused for its rate", LookFailed{"429", 7s, LookFailure::rate}},
            {"look forbidden", LookForbidden{"403"}},
            {"credential refused", CredentialRefused{"credential: 401"}},
            {"credential tried", CredentialTried{}},
            {"operator: retry", OperatorRetry{}},
            {"operator: sent", OperatorSaysSent{"url8"}},
            {"operator: not sent", OperatorSaysNotSent{}}};
}

std::string_view name_of_action(NextAction duty) {
    switch (duty) {
        case NextAction::nothing:
            return "nothing";
        case NextAction::look:
            return "look";
        case NextAction::send:
            return "send";
    }
    return "";
}

std::string told(const DeliveryProgress& row) {
    std::string text = fmt::format("{} attempt={} looks={}", name_of(row.state), row.attempt, row.lookups);
    if (row.look_failures > 0) text += fmt::format(" failed={}", row.look_failures);
    if (row.unusable_looks > 0) text += fmt::format(" unusable={}", row.unusable_looks);
    if (!row.cause.empty()) text += fmt::format(" cause=\"{}\"", row.cause);
    if (!row.remote_id.empty() || !row.remote_url.empty())
        text += fmt::format(" at={}:{}", row.remote_id, row.remote_url);
    if (row.wait) text += fmt::format(" wait={}ms", row.wait->count());
    return text + fmt::format(" duty={}", name_of_action(next_action(row)));
}

/// The row after these events, every one of which has to be possible.
DeliveryProgress after(const std::vector<DeliveryEvent>& events) {
    DeliveryProgress row;
    for (const DeliveryEvent& event : events) {
        const auto next = step(row, event);
        BOOST_REQUIRE(next.has_value());
        row = *next;
    }
    return row;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_state_meets_every_event_as_the_golden_table_says) {
    std::string text =
        "Every state × event of a delivery: \"state × event -> the row after it\"; refused: it cannot happen "
        "there and\n"
        "nothing is written. duty is what a sender that claims the row has to do first.\n";
    for (const auto& [name, row] : all_rows()) {
        text += fmt::format("\n# {}: {}\n", name, told(row));
        for (const auto& [event_name, event] : all_events()) {
            const auto next = step(row, event);
            text += fmt::format("{} × {} -> {}\n", name, event_name, next ? told(*next) : "refused");
        }
    }
    BOOST_TEST(difference_from_golden("delivery", text) == "");
}

BOOST_AUTO_TEST_CASE(a_post_that_is_answered_is_sent) {
    const auto row = after({IntentMade{}, AnsweredSent{"9", "url"}});
    BOOST_TEST((row.state == DeliveryState::sent));
    BOOST_TEST(row.attempt == 1);
    BOOST_TEST(row.remote_id == "9");
    BOOST_TEST(row.remote_url == "url");
    BOOST_TEST((next_action(row) == NextAction::nothing));
}

BOOST_AUTO_TEST_CASE(a_row_found_in_sending_is_looked_for_before_anything_is_sent) {
    const auto row = after({IntentMade{}});
    BOOST_TEST((next_action(row) == NextAction::look));
    BOOST_TEST(!step(row, IntentMade{}).has_value());
}

BOOST_AUTO_TEST_CASE(a_lost_answer_is_looked_for_after_3_15_and_60_s_and_then_tried_again) {
    auto row = after({IntentMade{}, AnswerLost{"timeout"}});
    for (const std::chrono::milliseconds wait : {3s, 15s, 60s}) {
        BOOST_TEST((row.wait == wait));
        BOOST_TEST((next_action(row) == NextAction::look));
        BOOST_TEST(!step(row, IntentMade{}).has_value());
        row = *step(row, NotFound{});
        BOOST_TEST((row.state == DeliveryState::unknown));
    }
    BOOST_TEST((next_action(row) == NextAction::send));
    row = *step(row, IntentMade{});
    BOOST_TEST((row.state == DeliveryState::sending));
    BOOST_TEST(row.attempt == 2);
    BOOST_TEST(row.lookups == 0);
    BOOST_TEST((next_action(row) == NextAction::look));
}

BOOST_AUTO_TEST_CASE(what_a_look_up_finds_is_adopted) {
    for (int looks = 0; looks < 3; ++looks) {
        std::vector<DeliveryEvent> events{IntentMade{}, AnswerLost{"reset"}};
        for (int i = 0; i < looks; ++i) events.emplace_back(NotFound{});
        events.emplace_back(FoundOnPlatform{"9", "url"});
        const auto row = after(events);
        BOOST_TEST((row.state == DeliveryState::sent));
        BOOST_TEST(row.attempt == 1);
        BOOST_TEST(row.cause == "");
    }
}

BOOST_AUTO_TEST_CASE(a_look_up_that_fails_says_nothing_about_the_post) {
    const auto row = after({IntentMade{}, AnswerLost{"reset"}, NotFound{}, LookFailed{"502", 7s}});
    BOOST_TEST(row.lookups == 1);
    BOOST_TEST((row.wait == 7s));
    BOOST_TEST((next_action(row) == NextAction::look));
}

BOOST_AUTO_TEST_CASE(a_post_is_parked_when_twenty_look_ups_in_a_row_were_answered_with_nothing_of_use) {
    auto row = after({IntentMade{}, AnswerLost{"reset"}});
    for (int i = 1; i < most_unusable_looks; ++i) {
        row = *step(row, LookFailed{"too deep", 7s, LookFailure::unusable});
        BOOST_TEST((row.state == DeliveryState::unknown));
        BOOST_TEST(row.look_failures == i);
    }
    row = *step(row, LookFailed{"too deep", 7s, LookFailure::unusable});
    BOOST_TEST((row.state == DeliveryState::parked));
    BOOST_TEST(row.cause == "cannot_look_up: too deep");
    row = *step(row, OperatorRetry{});
    BOOST_TEST((next_action(row) == NextAction::look));
    BOOST_TEST(row.unusable_looks == 0);
}

BOOST_AUTO_TEST_CASE(a_platform_that_is_down_parks_no_post_however_often_it_is_asked) {
    auto row = after({IntentMade{}, AnswerLost{"reset"}});
    for (int i = 0; i < 1000; ++i) row = *step(row, LookFailed{"503", 7s, LookFailure::platform});
    BOOST_TEST((row.state == DeliveryState::unknown));
    BOOST_TEST(row.look_failures == 1000);
    BOOST_TEST(row.unusable_looks == 0);
    BOOST_TEST(step(row, NotFound{})->look_failures == 0);
}

BOOST_AUTO_TEST_CASE(who_cannot_look_does_not_post_again) {
    const auto parked = after({IntentMade{}, AnswerLost{"reset"}, LookForbidden{"403"}});
    BOOST_TEST((parked.state == DeliveryState::parked));
    BOOST_TEST(parked.cause == "cannot_look_up: 403");
    BOOST_TEST(!step(parked, IntentMade{}).has_value());
    const auto retried = step(parked, OperatorRetry{});
    BOOST_REQUIRE(retried.has_value());
    BOOST_TEST((next_action(*retried) == NextAction::look));
}

BOOST_AUTO_TEST_CASE(a_refused_credential_parks_and_is_sent_after_a_retry) {
    const auto parked = after({IntentMade{}, AnsweredUnauthorised{"401"}});
    BOOST_TEST(parked.cause == "credential: 401");
    BOOST_TEST((next_action(parked) == NextAction::nothing));
    const auto retried = step(parked, OperatorRetry{});
    BOOST_REQUIRE(retried.has_value());
    BOOST_TEST((next_action(*retried) == NextAction::send));
}

BOOST_AUTO_TEST_CASE(a_definite_no_is_sent_again_without_a_look) {
    const auto row = after({IntentMade{}, AnsweredRetry{"429", 30s}});
    BOOST_TEST((row.wait == 30s));
    BOOST_TEST((next_action(row) == NextAction::send));
    BOOST_TEST(after({IntentMade{}, AnsweredRetry{"429", 30s}, IntentMade{}}).attempt == 2);
}

BOOST_AUTO_TEST_CASE(nothing_happens_to_a_final_row_any_more) {
    for (const auto& [name, row] : all_rows()) {
        if (!is_final(row.state)) continue;
        for (const auto& [event_name, event] : all_events())
            BOOST_TEST(!step(row, event).has_value(), name << " × " << event_name);
    }
}

BOOST_AUTO_TEST_CASE(no_answer_is_believed_without_an_intent) {
    for (const auto& [name, row] : all_rows()) {
        if (row.state == DeliveryState::sending) continue;
        for (const DeliveryEvent& answer : std::vector<DeliveryEvent>{
                 AnsweredSent{"9", "url"}, AnsweredRetry{"503", 1s}, AnsweredRefused{"422"},
                 AnsweredUnauthorised{"401"}, AnswerLost{"timeout"}})
            BOOST_TEST(!step(row, answer).has_value(), name);
    }
}

BOOST_AUTO_TEST_CASE(states_are_spelled_as_in_the_table) {
    std::string spelled;
    for (const DeliveryState state : states) {
        spelled += std::string(name_of(state)) + " ";
        BOOST_TEST((delivery_state_named(name_of(state)) == state));
    }
    BOOST_TEST(spelled == "PLANNED SENDING UNKNOWN RETRY SENT FAILED PARKED ");
    BOOST_TEST(!delivery_state_named("sent").has_value());
}
