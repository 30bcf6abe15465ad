// Jira's answers as values, and what they mean for a post. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/http_message.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// Who an answer of GET /myself names: Cloud by accountId, Data Center by its key or name. nullopt when the
/// text is no such thing.
std::optional<Account> read_jira_account(const std::string& json);

/// One comment; nullopt when the text is none or has no usable id.
std::optional<RemotePost> read_jira_comment(const std::string& json);

/// A page of comments, and how many there are of them in all.
struct JiraComments {
    std::vector<RemotePost> comments;
    std::int64_t total = 0;
};
/// nullopt when the text is no page.
std::optional<JiraComments> read_jira_comments(const std::string& json);

/// Status and reason in a few words for people.
std::string jira_cause(const HttpAnswer& answer);

/// What the answer to a new comment means.
Attempt classify_jira_comment(const HttpAnswer& answer);

/// Why a look-up that got this answer saw nothing.
LookupResult jira_lookup_failed(const HttpAnswer& answer);

}  // namespace epilogue
