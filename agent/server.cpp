#include "agent/server.h"

#include <algorithm>
#include <array>
#include <stop_token>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "agent/retry_after.h"
#include "base/backoff.h"
#include "base/bounded_json.h"
#include "base/instant.h"
#include "base/stoppable_wait.h"
#include "base/text.h"

namespace epilogue::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t longest_reason = 2000;
constexpr milliseconds first_pause{500};  // of a read that is refused for want of room
constexpr milliseconds longest_pause{30'000};
constexpr std::size_t max_answer = std::size_t{256} << 20U;  // a hundred events of a few hundred kilobytes

/// "body.role: Input should be …" for each reason of a 422.
std::string reasons_in(const Json& details) {
    std::string reasons;
    for (const Json& detail : details) {
        if (!detail.is_object()) continue;
        std::string where;
        for (const Json& step : detail.value("loc", Json::array()))
            where += (where.empty() ? "" : ".") + (step.is_string() ? step.get<std::string>() : step.dump());
        if (!reasons.empty()) reasons += "; ";
        reasons += where + ": " + string_in(detail, "msg");
    }
    return reasons;
}

std::string reason_in(const std::string& body) {
    const Json answer = parse_ordered_json(body);
    if (!answer.is_object()) return std::string(prefix_of(trimmed(body), longest_reason));
    const auto detail = answer.find("detail");
    std::string reason =
        detail != answer.end() && detail->is_array() ? reasons_in(*detail) : string_in(answer, "detail");
    if (const std::string exception = string_in(answer, "exception"); !exception.empty())
        reason += (reason.empty() ? "" : ": ") + exception;
    return std::string(prefix_of(reason, longest_reason));
}

AgentError::Kind kind_of(int status) {
    switch (status) {
        case 400:
        case 413:
        case 422:
            return AgentError::Kind::invalid;
        case 401:
        case 403:
            return AgentError::Kind::unauthorised;
        case 404:
        case 410:
            return AgentError::Kind::not_found;
        case 409:
            return AgentError::Kind::busy;
        case 429:
            return AgentError::Kind::overloaded;
        default:
            return AgentError::Kind::server_error;
    }
}

/// What servers answer with 500 before they do anything.
bool is_refusal(int status, std::string_view reason) {
    constexpr std::array<std::string_view, 3> refusals{"inactive_service", "Cannot condense conversation",
                                                       "Only user messages"};
    constexpr int not_implemented = 501;
    return status == not_implemented ||
           std::any_of(refusals.begin(), refusals.end(),
                       [&](std::string_view each) { return reason.find(each) != std::string_view::npos; });
}

bool wants_to_be_asked_later(const AgentError& error) {
    constexpr int unavailable = 503;
    return error.kind == AgentError::Kind::overloaded ||
           (error.status == unavailable && error.retry_after > milliseconds(0));
}

}  // namespace

AgentError error_of(int status, const std::string& body, bool changes) {
    const std::string reason = reason_in(body);
    return {kind_of(status),
            "the agent server answered " + std::to_string(status) + (reason.empty() ? "" : ": " + reason),
            changes && status >= 500 && !is_refusal(status, reason), status};
}

AgentServer::AgentServer(Address address, Secret session_key, Deadlines deadlines)
    : address_(std::move(address)),
      session_key_(std::move(session_key)),
      deadlines_(deadlines),
      logs_(deadlines.log_pause) {}

AgentResult<Answer> AgentServer::send(const Call& call) const {
    const auto end = Clock::now() + (call.deadline > milliseconds(0) ? call.deadline : deadlines_.call);
    for (int refusals = 1;; ++refusals) {
        auto answer = send_safely(call, end);
        if (answer || call.method != "GET" || !wants_to_be_asked_later(answer.error())) return answer;
        const milliseconds wanted = answer.error().retry_after;
        const milliseconds pause =
            wanted > milliseconds(0) ? wanted : full_jitter(refusals, 1.0, first_pause, longest_pause);
        if (pause > longest_pause || Clock::now() + pause >= end) return answer;
        if (!wait_or_stop(call.stop, pause))
            return agent_failure(AgentError::Kind::closed, "the conversation was closed");
    }
}

AgentResult<Answer> AgentServer::send_safely(const Call& call, Clock::time_point end) const {
    const auto left = [end] { return std::chrono::duration_cast<milliseconds>(end - Clock::now()); };
    auto answer = send_once(call, left());
    // After a failure of its own a server resets the connections it kept, without having said so.
    const bool reads = call.method == "GET";
    const bool safe = reads || call.repeat == Repeat::once;
    if (!answer && safe && answer.error().kind == AgentError::Kind::unreachable &&
        answer.error().maybe_done && left() > milliseconds(0)) {
        answer = send_once(call, left());
        // Whatever became of the second one: the first may have been carried out.
        if (!answer) answer.error().maybe_done = true;
    }
    if (!answer && reads) answer.error().maybe_done = false;
    return answer;
}

AgentResult<Answer> AgentServer::send_once(const Call& call, milliseconds deadline) const {
    HttpRequest request;
    request.method = call.method;
    request.url = address_.url() + call.path;
    request.headers = {"Accept: application/json", "User-Agent: epilogue"};
    if (!session_key_.empty()) request.headers.push_back("X-Session-API-Key: " + session_key_.reveal());
    if (!call.body.empty()) request.headers.emplace_back("Content-Type: application/json");
    request.body = call.body;
    request.timeout = deadline;
    request.max_answer_bytes = max_answer;
    request.stop = call.stop;
    request.egress = address_.egress;

    HttpAnswer answer = http_.send(request);
    const bool reads = call.method == "GET";
    if (answer.outcome == HttpOutcome::answered) {
        if (answer.status < 300) return Answer{answer.status, std::move(answer.body)};
        AgentError error = error_of(answer.status, answer.body, call.changes);
        error.retry_after = retry_after_in(answer);
        return AgentFailure(std::move(error));
    }
    const bool sent = answer.outcome != HttpOutcome::not_sent;
    if (call.stop.stop_requested())
        return agent_failure(AgentError::Kind::closed, "the conversation was closed", sent && !reads);
    const std::string where = "the agent server at " + address_.url();
    if (sent && answer.timed_out)
        return agent_failure(AgentError::Kind::timed_out,
                             where + " did not answer within " + std::to_string(deadline.count()) + " ms",
                             !reads);
    return agent_failure(AgentError::Kind::unreachable, where + ": " + answer.cause, sent);
}

AgentResult<Features> AgentServer::features(milliseconds within, const std::stop_token& stop) const {
    {
        const std::lock_guard lock(mutex_);
        if (features_) return *features_;
    }
    auto asked = ask_features(within > milliseconds(0) ? within : deadlines_.call, stop);
    if (asked) {
        const std::lock_guard lock(mutex_);
        features_ = *asked;
    }
    return asked;
}

AgentResult<Features> AgentServer::ask_features(milliseconds within, const std::stop_token& stop) const {
    const milliseconds reach = std::min(within, deadlines_.reach);
    auto answer = send({.path = "/server_info", .deadline = reach, .stop = stop});
    // Connected and silent: an old server that stands still, not one that is away.
    if (!answer && answer.error().kind == AgentError::Kind::timed_out && within > reach)
        answer = send({.path = "/server_info", .deadline = within - reach, .stop = stop});
    if (!answer) return AgentFailure(answer.error());
    const Json info = parse_ordered_json(answer->body);
    if (!info.is_object())
        return agent_failure(AgentError::Kind::server_error,
                             address_.url() + " is no agent server: /server_info holds no JSON object");
    return features_of(string_in(info, "version"));
}

}  // namespace epilogue::agent
