// The control API: what tests and the demo do to the platforms over HTTP.
#pragma once

#include "ops/fake_platform/fake_platform.h"
#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

/// Where it stands.
inline constexpr std::string_view control_prefix = "/_control";

/// Serves one request of the control API, JSON in and out; 400 with {"error"} for what it does not
/// understand. POST /rules (RuleBook::read), /release {"drop"}, /tokens {"tokens"}, /scopes {"platform",
/// "scopes"} (Slack's are obeyed, all are told), /reset, /issues {"repo",
/// "number", "state"}, /comments {"repo", "number", "author", "body", "thread", "metadata", "created_at",
/// "count"}, both also with {"platform", "place"} in place of {"repo", "number"}; PATCH /comments/ID
/// {"body"}; DELETE /comments/ID; POST /app {"id", "lifetime_s", "installations": {"34": {"account",
/// "suspended", "repositories"}}, "revoke": true} (an App in place of tokens), GET /app (what it was given
/// and showed); GET /log?after=N (of the first N requests nothing), /visible, /counts,
/// /wait?COUNT=N&timeout_ms=10000: answers {"reached"} once every COUNT named (as in /counts) is at least N,
/// or the time is up.
Reply serve_control(FakePlatform& platform, const Request& request);

}  // namespace epilogue::fake_platform
