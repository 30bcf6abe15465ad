#define BOOST_TEST_MODULE platform_state
#include <boost/test/unit_test.hpp>

#include "sinks/github/github_answers.h"
#include "sinks/gitlab/gitlab_answers.h"
#include "sinks/port/http_answer.h"
#include "sinks/slack/slack_answers.h"

using namespace epilogue;

namespace {

HttpAnswer answered(int status, const std::string& body = "{}") {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    answer.body = body;
    return answer;
}

HttpAnswer not_answered(HttpOutcome outcome) {
    HttpAnswer answer;
    answer.outcome = outcome;
    return answer;
}

/// What each sink makes of the answer, to a post and to a look-up.
std::vector<PlatformState> states(const HttpAnswer& answer) {
    return {classify_github_comment(answer).platform, github_lookup_failed(answer).platform,
            classify_gitlab_note(answer).platform,    gitlab_lookup_failed(answer).platform,
            classify_slack_message(answer).platform,  slack_lookup_failed(answer).platform};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_5xx_a_lost_answer_and_a_refused_connection_are_failures_of_the_platform) {
    for (const HttpAnswer& answer :
         {answered(500), answered(502), answered(503), answered(504), not_answered(HttpOutcome::uncertain),
          not_answered(HttpOutcome::not_sent)})
        for (const PlatformState state : states(answer)) BOOST_TEST((state == PlatformState::failed));
}

BOOST_AUTO_TEST_CASE(any_other_answer_shows_that_the_platform_is_there) {
    for (const int status : {200, 201, 301, 400, 401, 403, 404, 408, 410, 422, 429})
        for (const PlatformState state : states(answered(status)))
            BOOST_TEST((state == PlatformState::answered), status);
}

BOOST_AUTO_TEST_CASE(slack_says_in_a_200_too_that_it_is_down) {
    for (const char* error : {"internal_error", "fatal_error", "service_unavailable", "request_timeout"}) {
        const auto answer = answered(200, std::string(R"({"ok":false,"error":")") + error + R"("})");
        BOOST_TEST((classify_slack_message(answer).platform == PlatformState::failed), error);
        BOOST_TEST((slack_lookup_failed(answer).platform == PlatformState::failed), error);
    }
    const auto refused = answered(200, R"({"ok":false,"error":"not_in_channel"})");
    BOOST_TEST((classify_slack_message(refused).platform == PlatformState::answered));
}

BOOST_AUTO_TEST_CASE(a_minute_is_only_the_least_where_github_names_no_time) {
    const auto without = classify_github_comment(answered(429));
    BOOST_TEST(without.is_estimate);
    BOOST_TEST((without.not_before == std::chrono::seconds{60}));
    BOOST_TEST(github_lookup_failed(answered(429)).is_estimate);
    HttpAnswer with = answered(429);
    with.headers["retry-after"] = "60";
    BOOST_TEST(!classify_github_comment(with).is_estimate);
    BOOST_TEST(!github_lookup_failed(with).is_estimate);
}
