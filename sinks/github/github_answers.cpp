#include "sinks/github/github_answers.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sinks/port/comment_answer.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"

namespace epilogue {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

Account account_in(const Json& json) {
    return {.id = integer_at(json, "id"), .name = text_at(json, "login")};
}

std::optional<RemotePost> comment_in(const Json& json) {
    RemotePost comment{.id = integer_at(json, "id"),
                       .url = text_at(json, "html_url"),
                       .body = text_at(json, "body"),
                       .author = {},
                       .created_at = parse_instant(text_at(json, "created_at"))};
    if (comment.id <= 0) return std::nullopt;
    if (const auto user = json.find("user"); user != json.end()) comment.author = account_in(*user);
    return comment;
}

/// GitHub's own words, on one line.
std::string message_of(const HttpAnswer& answer) {
    return one_line(text_at(parsed(answer.body), "message"));
}

/// "… because issue is locked", but not "… is blocked".
bool says_locked(const HttpAnswer& answer) {
    const auto words = split(replaced(lowered(message_of(answer)), ".", " "), ' ');
    return std::find(words.begin(), words.end(), "locked") != words.end();
}

/// "This installation has been suspended": no place of it can be written to.
bool says_suspended(const HttpAnswer& answer) {
    return lowered(message_of(answer)).find("suspended") != std::string::npos;
}

bool is_redirect(int status) {
    return status >= 300 && status < 400;
}

}  // namespace

std::optional<Account> read_github_account(const std::string& json) {
    auto account = account_in(parsed(json));
    if (account.unnamed()) return std::nullopt;
    return account;
}

std::optional<GithubToken> read_github_token(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered || answer.status != 201) return std::nullopt;
    const auto json = parsed(answer.body);
    GithubToken token{.text = text_at(json, "token")};
    const auto ends = parse_instant(text_at(json, "expires_at"));
    const bool is_line = std::none_of(token.text.begin(), token.text.end(),
                                      [](unsigned char c) { return c <= 0x20 || c == 0x7F; });
    if (token.text.empty() || !is_line || !ends) return std::nullopt;
    // By GitHub's clock alone: ours may be another. It gives none for longer than an hour.
    token.lifetime = std::clamp<Micros>(*ends - time_of(answer), 0s, 1h);
    return token;
}

std::optional<Account> read_github_bot(const std::string& json) {
    const auto slug = text_at(parsed(json), "slug");
    if (slug.empty()) return std::nullopt;
    return Account{.name = slug + "[bot]"};
}

std::optional<std::vector<std::string>> read_github_permissions(const std::string& json) {
    const auto app = parsed(json);
    const auto found = app.find("permissions");
    if (found == app.end() || !found->is_object()) return std::nullopt;
    std::vector<std::string> permissions;
    for (const auto& [name, level] : found->items())
        if (level.is_string()) permissions.push_back(name + ":" + level.get<std::string>());
    return permissions;
}

std::optional<RemotePost> read_github_comment(const std::string& json) {
    return comment_in(parsed(json));
}

bool is_github_comment_of(const std::string& json, std::int64_t number) {
    const auto comment = parsed(json);
    return text_at(comment, "issue_url").ends_with(fmt::format("/issues/{}", number)) ||
           text_at(comment, "pull_request_url").ends_with(fmt::format("/pulls/{}", number));
}

std::optional<std::vector<RemotePost>> read_github_comments(const std::string& json) {
    const auto list = parsed(json);
    if (!list.is_array()) return std::nullopt;
    std::vector<RemotePost> comments;
    for (const auto& item : list) {
        auto comment = comment_in(item);
        if (!comment) return std::nullopt;
        comments.push_back(*std::move(comment));
    }
    return comments;
}

std::optional<std::int64_t> read_github_root(const std::string& json) {
    const auto comment = parsed(json);
    const auto root = integer_at(comment, "in_reply_to_id");
    const auto id = root > 0 ? root : integer_at(comment, "id");
    return id > 0 ? std::optional(id) : std::nullopt;
}

std::optional<RateWait> github_rate_limit(const HttpAnswer& answer) {
    constexpr RateWait a_minute_at_least{60s, true};
    if (answer.status != 403 && answer.status != 429) return std::nullopt;
    const auto now = time_of(answer);
    if (const auto wait = retry_after(answer, now)) return RateWait{*wait};
    // Every answer names a reset; it only matters when nothing is left until then.
    const auto left = header_of(answer, "x-ratelimit-remaining");
    if (left == "0")
        if (const auto wait = wait_until_epoch(answer, "x-ratelimit-reset", now))
            return RateWait{std::max(*wait, 1s)};
    const auto message = lowered(message_of(answer));
    for (const auto* sign : {"rate limit", "secondary rate", "abuse"})
        if (message.find(sign) != std::string::npos) return a_minute_at_least;
    const bool marked = left == "0" || !header_of(answer, "retry-after").empty();
    return answer.status == 429 || marked ? std::optional(a_minute_at_least) : std::nullopt;
}

std::string github_cause(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered) return answer.cause;
    if (github_rate_limit(answer)) return fmt::format("{} rate limited", answer.status);
    const auto location = header_of(answer, "location");
    if (is_redirect(answer.status) && !location.empty()) {
        return fmt::format("{} moved to {}", answer.status, one_line(path_of(location)));
    }
    return status_cause(answer.status, message_of(answer));
}

Attempt classify_github_comment(const HttpAnswer& answer, int done) {
    Attempt attempt = attempt_after(answer, github_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return attempt;
    const int status = answer.status;
    if (const auto limit = github_rate_limit(answer)) {
        attempt.answer = Answer::retry;
        attempt.rate_limited = true;
        attempt.not_before = limit->wait;
        attempt.is_estimate = limit->is_estimate;
    } else if (status == 401 || (status == 403 && !says_locked(answer))) {
        attempt.answer = Answer::unauthorised;
        attempt.scope_is_target = status == 403 && !says_suspended(answer);
    } else {
        const auto comment = status == done ? read_github_comment(answer.body) : std::nullopt;
        take_status(status, receipt_of(comment), "comment", attempt);
    }
    return attempt;
}

LookupResult github_lookup_failed(const HttpAnswer& answer) {
    LookupResult lookup = lookup_after(answer, github_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return lookup;
    if (const auto limit = github_rate_limit(answer)) {
        lookup.rate_limited = true;
        lookup.not_before = limit->wait;
        lookup.is_estimate = limit->is_estimate;
    }
    lookup.forbidden = lookup.forbidden && !lookup.rate_limited;
    return lookup;
}

}  // namespace epilogue
