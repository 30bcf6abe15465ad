// The platforms that are played. A new one is a file with its serve function and a line in platform.cpp.
#pragma once

#include <string_view>

#include "ops/fake_platform/comment_store.h"
#include "ops/fake_platform/http_messages.h"

namespace epilogue::standin {

struct Platform {
    std::string_view name;  ///< its paths start with "/name/"
    /// Reads one request and does to `board` what the platform would. Called under the desk's lock.
    Reply (*serve)(const Request& request, Board& board);
};

/// GitHub's REST API: the user, comments of issues and pull requests, review comments.
Reply serve_github(const Request& request, Board& board);

/// GitLab's REST API (v4): the user, notes of issues and merge requests, their discussions.
Reply serve_gitlab(const Request& request, Board& board);

/// Slack's Web API: messages in channels and threads.
Reply serve_slack(const Request& request, Board& board);

/// A message's id: the second it was made, and what tells it from others.
std::string slack_ts(const Comment& message);

/// The platform whose path this is; nullptr when there is none.
const Platform* platform_of(std::string_view path);

}  // namespace epilogue::standin
