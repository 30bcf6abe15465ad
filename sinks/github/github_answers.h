// GitHub's answers as values, and what they mean for a post. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/http_message.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// One account, as GET /user has it. nullopt when the text is no such thing.
std::optional<Account> read_github_account(const std::string& json);

/// One comment; nullopt when the text is none or has no usable id.
std::optional<RemotePost> read_github_comment(const std::string& json);

/// Whether the comment stands in the issue or pull request of that number.
bool is_github_comment_of(const std::string& json, std::int64_t number);

/// A page of comments; nullopt when the text is no list of them.
std::optional<std::vector<RemotePost>> read_github_comments(const std::string& json);

/// The comment that begins the thread of a review comment, itself or the one it replies to; nullopt when the
/// text is no comment.
std::optional<std::int64_t> read_github_root(const std::string& json);

/// An installation's token, and for how long it is good.
struct GithubToken {
    std::string text;
    Micros lifetime{0};
};
/// nullopt when the answer holds none.
std::optional<GithubToken> read_github_token(const HttpAnswer& answer);

/// What an App posts as, as GET /app has it; nullopt when the text is no App.
std::optional<Account> read_github_bot(const std::string& json);

/// What an App may do, "issues:write": as GET /app has it; nullopt when it does not tell.
std::optional<std::vector<std::string>> read_github_permissions(const std::string& json);

/// For how long to leave GitHub alone.
struct RateWait {
    std::chrono::seconds wait{0};
    bool is_estimate = false;  ///< GitHub named no time: at least so long
};

/// What a refusal by rate asks for: `Retry-After`, else the reset of an exhausted window, else at least a
/// minute. nullopt when the answer is none.
std::optional<RateWait> github_rate_limit(const HttpAnswer& answer);

/// Status and reason in a few words for people: "404 Not Found", "301 moved to
/// /repositories/1/issues/2/comments".
std::string github_cause(const HttpAnswer& answer);

/// What the answer to a new comment means; to a changed one, when `done` is 200.
Attempt classify_github_comment(const HttpAnswer& answer, int done = 201);

/// Why a look-up that got this answer saw nothing.
LookupResult github_lookup_failed(const HttpAnswer& answer);

}  // namespace epilogue
