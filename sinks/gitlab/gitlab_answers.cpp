#include "sinks/gitlab/gitlab_answers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
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
    return {.id = integer_at(json, "id"), .name = text_at(json, "username")};
}

std::optional<RemotePost> note_in(const Json& json) {
    RemotePost note{.id = integer_at(json, "id"),
                    .url = {},
                    .body = text_at(json, "body"),
                    .author = {},
                    .created_at = parse_instant(text_at(json, "created_at"))};
    if (note.id <= 0) return std::nullopt;
    if (const auto author = json.find("author"); author != json.end()) note.author = account_in(*author);
    return note;
}

/// GitLab's own words, on one line: `message` is a text or an object of lists, `error` a text.
std::string message_of(const HttpAnswer& answer) {
    const auto json = parsed(answer.body);
    for (const auto* name : {"message", "error_description", "error"}) {
        const auto found = json.is_object() ? json.find(name) : json.end();
        if (found == json.end() || found->is_null()) continue;
        auto text = found->is_string() ? found->get<std::string>() : json_line(*found);
        // It likes to say "404 Not found" beside the status.
        const auto status = fmt::format("{} ", answer.status);
        return one_line(text.starts_with(status) ? std::string_view(text).substr(status.size()) : text);
    }
    return {};
}

bool says_locked(const HttpAnswer& answer) {
    return lowered(message_of(answer)).find("locked") != std::string::npos;
}

}  // namespace

std::optional<Account> read_gitlab_account(const std::string& json) {
    auto account = account_in(parsed(json));
    if (account.unnamed()) return std::nullopt;
    return account;
}

std::optional<RemotePost> read_gitlab_note(const std::string& json) {
    return note_in(parsed(json));
}

std::optional<std::vector<RemotePost>> read_gitlab_notes(const std::string& json) {
    const auto answer = parsed(json);
    const auto& list = answer.is_object() && answer.contains("notes") ? answer["notes"] : answer;
    if (!list.is_array()) return std::nullopt;
    std::vector<RemotePost> notes;
    for (const auto& item : list) {
        auto note = note_in(item);
        if (!note) return std::nullopt;
        notes.push_back(*std::move(note));
    }
    return notes;
}

std::optional<std::chrono::seconds> gitlab_wait(const HttpAnswer& answer) {
    if (answer.status != 429) return std::nullopt;
    const auto now = time_of(answer);
    if (const auto wait = retry_after(answer, now)) return wait;
    return wait_until_epoch(answer, "ratelimit-reset", now);
}

std::string gitlab_cause(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered) return answer.cause;
    if (answer.status == 429) return "429 rate limited";
    return status_cause(answer.status, message_of(answer));
}

Attempt classify_gitlab_note(const HttpAnswer& answer, int done) {
    Attempt attempt = attempt_after(answer, gitlab_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return attempt;
    const int status = answer.status;
    if (status == 429) {
        attempt.answer = Answer::retry;
        attempt.rate_limited = true;
        attempt.not_before = gitlab_wait(answer);
    } else if (status == 401 || (status == 403 && !says_locked(answer))) {
        attempt.answer = Answer::unauthorised;
        attempt.scope_is_target = status == 403;
    } else {
        const auto note = status == done ? read_gitlab_note(answer.body) : std::nullopt;
        take_status(status, receipt_of(note), "note", attempt);
    }
    return attempt;
}

LookupResult gitlab_lookup_failed(const HttpAnswer& answer) {
    LookupResult lookup = lookup_after(answer, gitlab_cause(answer));
    if (answer.outcome != HttpOutcome::answered) return lookup;
    lookup.rate_limited = answer.status == 429;
    lookup.not_before = gitlab_wait(answer);
    return lookup;
}

}  // namespace epilogue
