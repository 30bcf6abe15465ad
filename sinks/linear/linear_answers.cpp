#include "sinks/linear/linear_answers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sinks/port/comment_answer.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/remote_post.h"

namespace epilogue {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 2> of_credential{"AUTHENTICATION_ERROR", "UNAUTHENTICATED"};
/// Nothing was done, and the same request will fare no better.
constexpr std::array<std::string_view, 9> of_request{
    "INPUT_ERROR",    "INVALID_INPUT",        "USER_ERROR",
    "GRAPHQL_ERROR",  "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED",
    "BAD_USER_INPUT", "USAGE_LIMIT_EXCEEDED", "FEATURE_NOT_ACCESSIBLE"};

template <std::size_t Size>
bool among(const std::array<std::string_view, Size>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The value at the end of a path of members; discarded when there is none. Lives as long as `json`.
const Json& at(const Json& json, std::initializer_list<const char*> path) {
    static const Json none(Json::value_t::discarded);
    const Json* found = &json;
    for (const char* name : path) {
        const auto member = found->is_object() ? found->find(name) : found->end();
        if (member == found->end()) return none;
        found = &*member;
    }
    return *found;
}

/// The first error of an answer.
struct GraphqlError {
    std::string code;  ///< "INPUT_ERROR"; "" when there is no error
    std::string message;
};

GraphqlError error_in(const Json& json) {
    const Json errors = at(json, {"errors"});
    if (!errors.is_array() || errors.empty()) return {};
    const Json& first = errors.front();
    const Json extensions = at(first, {"extensions"});
    GraphqlError error{text_at(extensions, "code"), text_at(extensions, "userPresentableMessage")};
    if (error.code.empty()) error.code = replaced(text_at(extensions, "type"), " ", "_");
    for (char& c : error.code)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (error.code.empty()) error.code = "UNKNOWN";
    if (error.message.empty()) error.message = text_at(first, "message");
    return error;
}

GraphqlError error_of(const HttpAnswer& answer) {
    return error_in(parsed(answer.body));
}

bool is_rate_limited(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered &&
           (answer.status == 429 || error_of(answer).code == "RATELIMITED");
}

bool is_forbidden(const HttpAnswer& answer) {
    return answer.status == 403 || error_of(answer).code == "FORBIDDEN";
}

/// The longest wait of the windows that are used up. Linear tells their ends in milliseconds.
std::optional<std::chrono::seconds> wait_of(const HttpAnswer& answer) {
    if (auto wait = retry_after(answer, time_of(answer))) return wait;
    std::optional<std::chrono::seconds> longest;
    for (const std::string kind : {"requests", "complexity", "endpoint-requests"}) {
        const std::string name = "x-ratelimit-" + kind + "-reset";
        const auto milliseconds = integer_in(header_of(answer, name));
        if (!milliseconds || header_of(answer, "x-ratelimit-" + kind + "-remaining") != "0") continue;
        HttpAnswer in_seconds = answer;
        in_seconds.headers[name] = fmt::format("{}", (*milliseconds + 999) / 1000);
        longest = std::max(longest, wait_until_epoch(in_seconds, name, time_of(answer)));
    }
    return longest;
}

void take_rate(const HttpAnswer& answer, Attempt& attempt) {
    attempt.answer = Answer::retry;
    attempt.rate_limited = true;
    attempt.not_before = wait_of(answer);
}

}  // namespace

std::string read_linear_viewer(const HttpAnswer& answer) {
    const Json data = at(parsed(answer.body), {"data"});
    const std::string name = text_at(at(data, {"viewer"}), "displayName");
    const std::string workspace = text_at(at(data, {"organization"}), "name");
    return name.empty() || workspace.empty() ? name : name + " (" + workspace + ")";
}

std::string linear_cause(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered) return answer.cause;
    if (is_rate_limited(answer)) return fmt::format("{} rate limited", answer.status);
    const GraphqlError error = error_of(answer);
    if (error.code.empty()) return fmt::format("{}", answer.status);
    return one_line(fmt::format("{} {}: {}", answer.status, error.code, error.message));
}

Attempt classify_linear_comment(const HttpAnswer& answer) {
    Attempt attempt = attempt_after(answer, linear_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return attempt;
    const int status = answer.status;
    const Json json = parsed(answer.body);
    const Json made = at(json, {"data", "commentCreate"});
    const Json comment = at(made, {"comment"});
    const std::string code = error_in(json).code;
    if (at(made, {"success"}) == Json(true) && !text_at(comment, "id").empty()) {
        attempt.answer = Answer::sent;
        attempt.receipt = {text_at(comment, "id"), text_at(comment, "url")};
        attempt.cause.clear();
    } else if (is_rate_limited(answer)) {
        take_rate(answer, attempt);
    } else if (refuses_linear_token(answer) || is_forbidden(answer)) {
        attempt.answer = Answer::unauthorised;
        attempt.scope_is_target = !refuses_linear_token(answer);
    } else if (status >= 500 || status == 408) {
        return attempt;
    } else if (among(of_request, code) || (status >= 300 && code.empty())) {
        attempt.answer = Answer::refused;
    } else if (code.empty()) {
        attempt.cause = fmt::format("{} without a readable comment", status);
    }
    return attempt;
}

LookupResult read_linear_lookup(const HttpAnswer& answer, const std::string& id) {
    LookupResult lookup = lookup_failed(linear_cause(answer));
    lookup.platform = platform_state(answer);
    if (answer.outcome != HttpOutcome::answered) return lookup;
    const Json json = parsed(answer.body);
    const Json nodes = at(json, {"data", "comments", "nodes"});
    const std::string me = text_at(at(json, {"data", "viewer"}), "id");
    if (is_rate_limited(answer)) {
        lookup.rate_limited = true;
        lookup.not_before = wait_of(answer);
    } else if (refuses_linear_token(answer) || is_forbidden(answer)) {
        lookup.forbidden = true;
    } else if (answer.status != 200 || !error_in(json).code.empty()) {
        lookup.forbidden = answer.status < 500 && among(of_request, error_in(json).code);
    } else if (!nodes.is_array() || me.empty()) {
        lookup.cause = "200 without a readable list of comments";
    } else {
        lookup.ok = true;
        lookup.cause.clear();
        for (const Json& comment : nodes) {
            // What an app posts may have no user; the id, which only we knew, has to do.
            const Json user = at(comment, {"user"});
            const bool is_ours = !user.is_object() || text_at(user, "id") == me;
            if (text_at(comment, "id") == id && is_ours)
                lookup.found = {{.remote_id = id, .remote_url = text_at(comment, "url")}};
        }
    }
    return lookup;
}

bool is_linear_deletion(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered && answer.status == 200 &&
           at(parsed(answer.body), {"data", "commentDelete", "success"}) == Json(true);
}

bool refuses_linear_token(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered &&
           (answer.status == 401 || among(of_credential, error_of(answer).code));
}

}  // namespace epilogue
