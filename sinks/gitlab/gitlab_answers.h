// GitLab's answers as values, and what they mean for a post. Pure.
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

/// One account, as GET /user has it. nullopt when the text is no such thing.
std::optional<Account> read_gitlab_account(const std::string& json);

/// One note; nullopt when the text is none or has no usable id. A note names no address: `url` is empty.
std::optional<RemotePost> read_gitlab_note(const std::string& json);

/// A page of notes, or the notes of one discussion; nullopt when the text is neither.
std::optional<std::vector<RemotePost>> read_gitlab_notes(const std::string& json);

/// How long to leave GitLab alone when the answer is a 429: `Retry-After`, else `RateLimit-Reset`. Its
/// headers are often missing or wrong: nullopt says nothing about whether it was one.
std::optional<std::chrono::seconds> gitlab_wait(const HttpAnswer& answer);

/// Status and reason in a few words for people: "400 Maximum number of comments exceeded".
std::string gitlab_cause(const HttpAnswer& answer);

/// What the answer to a new note means; to a changed one, when `done` is 200.
Attempt classify_gitlab_note(const HttpAnswer& answer, int done = 201);

/// Why a look-up that got this answer saw nothing.
LookupResult gitlab_lookup_failed(const HttpAnswer& answer);

}  // namespace epilogue
