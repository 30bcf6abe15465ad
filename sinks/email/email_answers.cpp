#include "sinks/email/email_answers.h"

#include <fmt/format.h>

#include "base/mail_server.h"
#include "base/text.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/remote_post.h"

namespace epilogue {

std::string mail_cause(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered) return answer.cause;
    const auto reply = std::string(trimmed(one_line(answer.body)));
    const auto code = fmt::format("{}", answer.status);
    return reply.starts_with(code) ? reply : code + " " + reply;
}

Attempt classify_mail(const HttpAnswer& answer) {
    Attempt attempt = not_sent(Answer::unknown, mail_cause(answer));
    attempt.platform =
        answer.outcome == HttpOutcome::answered ? PlatformState::answered : PlatformState::failed;
    if (answer.outcome == HttpOutcome::uncertain) return attempt;
    if (answer.outcome == HttpOutcome::not_sent) {
        attempt.answer = Answer::retry;
        return attempt;
    }
    const int kind = answer.status / 100;
    const bool wants_login = answer.status == 530 || answer.status == 534 || answer.status == 535 ||
                             answer.status == 538 || header_of(answer, mail_phase) == phase_login;
    if (kind == 2) {
        attempt.answer = Answer::sent;
        attempt.cause.clear();
    } else if (kind == 4) {
        attempt.answer = Answer::retry;  // greylisted, too busy, mailbox full
    } else {
        attempt.answer = wants_login ? Answer::unauthorised : Answer::refused;
    }
    return attempt;
}

}  // namespace epilogue
