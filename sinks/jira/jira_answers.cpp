#include "sinks/jira/jira_answers.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "sinks/port/comment_answer.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"

namespace epilogue {
namespace {

using Json = nlohmann::json;

Account account_in(const Json& json) {
    for (const char* name : {"accountId", "key", "name"})
        if (auto text = text_at(json, name); !text.empty()) return {.id = 0, .name = std::move(text)};
    return {};
}

/// Jira writes its zone as "+0000".
std::optional<Instant> time_in(std::string text) {
    constexpr std::size_t zone = 5;
    const std::size_t size = text.size();
    if (size > zone && (text[size - zone] == '+' || text[size - zone] == '-')) text.insert(size - 2, ":");
    return parse_instant(text);
}

std::optional<RemotePost> comment_in(const Json& json) {
    RemotePost comment{.id = integer_in(text_at(json, "id")).value_or(0),
                       .url = text_at(json, "self"),
                       .body = text_at(json, "body"),
                       .author = {},
                       .created_at = time_in(text_at(json, "created"))};
    if (comment.id <= 0) return std::nullopt;
    if (const auto author = json.find("author"); author != json.end()) comment.author = account_in(*author);
    return comment;
}

/// Jira's own words, on one line: `errorMessages` is a list, `errors` an object of texts.
std::string message_of(const HttpAnswer& answer) {
    const auto json = parsed(answer.body);
    std::string text;
    for (const std::string& each : texts_at(json, "errorMessages").value_or(std::vector<std::string>{}))
        text += (text.empty() ? "" : "; ") + each;
    const auto errors = json.is_object() ? json.find("errors") : json.end();
    if (text.empty() && errors != json.end() && errors->is_object() && !errors->empty())
        text = json_line(*errors);
    return one_line(text);
}

/// Cloud takes a token that it does not know for no token at all, and then knows no issue.
bool says_not_logged_in(const HttpAnswer& answer) {
    return header_of(answer, "x-seraph-loginreason").find("FAILED") != std::string_view::npos;
}

std::optional<std::chrono::seconds> wait_of(const HttpAnswer& answer) {
    return answer.status == 429 ? retry_after(answer, time_of(answer)) : std::nullopt;
}

}  // namespace

std::optional<Account> read_jira_account(const std::string& json) {
    auto account = account_in(parsed(json));
    if (account.unnamed()) return std::nullopt;
    return account;
}

std::optional<RemotePost> read_jira_comment(const std::string& json) {
    return comment_in(parsed(json));
}

std::optional<JiraComments> read_jira_comments(const std::string& json) {
    const auto answer = parsed(json);
    const auto list = answer.is_object() ? answer.find("comments") : answer.end();
    if (list == answer.end() || !list->is_array()) return std::nullopt;
    JiraComments page;
    page.total = integer_at(answer, "total");
    for (const auto& item : *list) {
        auto comment = comment_in(item);
        if (!comment) return std::nullopt;
        page.comments.push_back(*std::move(comment));
    }
    return page;
}

std::string jira_cause(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered) return answer.cause;
    if (answer.status == 429) return "429 rate limited";
    return status_cause(answer.status, message_of(answer));
}

Attempt classify_jira_comment(const HttpAnswer& answer) {
    Attempt attempt = attempt_after(answer, jira_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return attempt;
    const int status = answer.status;
    if (status == 429) {
        attempt.answer = Answer::retry;
        attempt.rate_limited = true;
        attempt.not_before = wait_of(answer);
    } else if (status == 401 || status == 403 || (status == 404 && says_not_logged_in(answer))) {
        attempt.answer = Answer::unauthorised;
        attempt.scope_is_target = status == 403;
    } else {
        const auto comment = status == 201 ? read_jira_comment(answer.body) : std::nullopt;
        take_status(status, receipt_of(comment), "comment", attempt);
    }
    return attempt;
}

LookupResult jira_lookup_failed(const HttpAnswer& answer) {
    LookupResult lookup = lookup_after(answer, jira_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return lookup;
    lookup.rate_limited = answer.status == 429;
    lookup.not_before = wait_of(answer);
    return lookup;
}

}  // namespace epilogue
