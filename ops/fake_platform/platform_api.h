// The platforms that are faked. A new one is a file with its serve function and a line in platform_api.cpp.
#pragma once

#include <string_view>

#include "ops/fake_platform/comment_store.h"
#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

struct PlatformApi {
    std::string_view name;  ///< its paths start with "/name/"
    /// Reads one request and does to `store` what the platform would. Called under FakePlatform's lock.
    Reply (*serve)(const Request& request, CommentStore& store);
};

/// Mailboxes, behind mail_server.h.
Reply serve_email(const Request& request, CommentStore& store);

/// GitHub's REST API: the user, comments of issues and pull requests, review comments.
Reply serve_github(const Request& request, CommentStore& store);

/// GitLab's REST API (v4): the user, notes of issues and merge requests, their discussions.
Reply serve_gitlab(const Request& request, CommentStore& store);

/// Jira's REST API (v2), of Cloud (Basic) and Data Center (Bearer): who we are, comments of issues.
Reply serve_jira(const Request& request, CommentStore& store);

/// Linear's GraphQL API: who we are, comments of issues.
Reply serve_linear(const Request& request, CommentStore& store);

/// Slack's Web API: messages in channels and threads.
Reply serve_slack(const Request& request, CommentStore& store);

/// A receiver of signed webhooks: it takes each webhook-id once.
Reply serve_webhook(const Request& request, CommentStore& store);

/// A message's id: the second it was made, and what tells it from others.
std::string slack_ts(const Comment& message);

/// The platform whose path this is; nullptr: it is no platform's path.
const PlatformApi* platform_api_of(std::string_view path);

}  // namespace epilogue::fake_platform
