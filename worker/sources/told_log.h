// What a conversation's agent server tells of it: the one way in which its log is read, by catch-ups, by
// `epilogue view` and for a model that summarises a turn.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "agent/calls.h"
#include "worker/core/reconcile_pace.h"
#include "worker/core/server_log.h"

namespace epilogue {

/// Why a log could not be read.
struct LogReadError {
    Hindrance why = Hindrance::failed;
    std::string text;  ///< for people, with the server's address where there is one; never holds a secret
    std::chrono::milliseconds retry_after{0};  ///< before that the server is not asked again
};

/// All events of the log as they were written, in the server's order. No page is asked for after `until`.
tl::expected<std::vector<agent::EventRef>, LogReadError> told_events(
    const agent::ConversationCalls& calls, agent::ConversationCalls::Clock::time_point until);

/// The same as the worker reads it, without events that it cannot read, and then the status, which holds for
/// all that was read before.
tl::expected<ServerLog, LogReadError> told_log(const agent::ConversationCalls& calls,
                                               agent::ConversationCalls::Clock::time_point until);

/// What keeps `calls` from telling about their conversation, after one short look at it; nullopt: nothing.
/// Answers within that time.
std::optional<LogReadError> look_once(const agent::ConversationCalls& calls,
                                      std::chrono::milliseconds within);

}  // namespace epilogue
