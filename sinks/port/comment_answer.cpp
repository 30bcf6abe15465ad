#include "sinks/port/comment_answer.h"

#include <utility>

#include <fmt/format.h>

#include "sinks/port/http_answer.h"

namespace epilogue {

std::string status_cause(int status, const std::string& message) {
    return message.empty() ? fmt::format("{}", status) : fmt::format("{} {}", status, message);
}

Attempt attempt_after(const HttpAnswer& answer, std::string cause) {
    const bool was_sent = answer.outcome != HttpOutcome::not_sent;
    Attempt attempt = not_sent(was_sent ? Answer::unknown : Answer::retry, std::move(cause));
    attempt.platform = platform_state(answer);
    return attempt;
}

std::optional<Receipt> receipt_of(const std::optional<RemotePost>& comment) {
    if (!comment) return std::nullopt;
    return Receipt{.remote_id = fmt::format("{}", comment->id), .remote_url = comment->url};
}

void take_status(int status, std::optional<Receipt> made, const char* noun, Attempt& attempt) {
    if (made) {
        attempt.answer = Answer::sent;
        attempt.receipt = *std::move(made);
        attempt.cause.clear();
    } else if (status >= 200 && status < 300) {
        attempt.cause = fmt::format("{} without a readable {}", status, noun);
    } else if (status >= 300 && status < 500 && status != 408) {
        attempt.answer = Answer::refused;  // 408 comes from a proxy, which may have passed the request on
    }
}

LookupResult lookup_after(const HttpAnswer& answer, std::string cause) {
    LookupResult lookup = lookup_failed(std::move(cause));
    lookup.platform = platform_state(answer);
    if (answer.outcome != HttpOutcome::answered) return lookup;
    const int status = answer.status;
    lookup.forbidden =
        status == 401 || status == 403 || status == 404 || status == 410 || (status >= 300 && status < 400);
    return lookup;
}

}  // namespace epilogue
