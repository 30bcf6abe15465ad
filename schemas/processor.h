// A callback row's processor: where its summaries go. Reads upstream's processor_json of both generations and
// our short form. (contract §4; shapes: docs of OpenHands' *_callback_processor.py)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace epilogue {

struct SlackTarget {
    std::string channel;
    std::string thread_ts;  ///< empty: a message of its own
    std::string team_id;    ///< empty: the default workspace
};
struct GithubTarget {
    std::string repo;  ///< "owner/name"
    std::int64_t number = 0;
    std::optional<std::int64_t> review_comment_id;  ///< reply in that review thread
    std::optional<std::int64_t> installation_id;
};
struct GitlabTarget {
    std::string project;  ///< numeric id in decimal, or "group/name"
    std::int64_t iid = 0;
    bool merge_request = false;
    std::string discussion_id;  ///< empty: a plain note
};
struct LogTarget {};

using Target = std::variant<SlackTarget, GithubTarget, GitlabTarget, LogTarget>;

struct Processor {
    std::string sink;  ///< short name: slack | github | gitlab | log
    Target target;
};

/// The registry's short name for a short or dotted processor_type
/// ("…slack_callback_processor.SlackCallbackProcessor", "SlackV1CallbackProcessor"), or nullopt when it is
/// none of ours.
std::optional<std::string> sink_named(std::string_view processor_type);

/// Decodes a row. The error (poison) names the field and what was expected of it.
Result<Processor> decode_processor(std::string_view processor_type, std::string_view processor_json);

/// One line that names the place, equal for equal places: "github:owner/name#42" (a review thread:
/// "…#42/r7"), "slack:T…/C…/1763715600.000100" (no team: "slack:-/C…"), "gitlab:4455!7" (an issue: "…#7"; in
/// a discussion: "…/<id>"), "log". At most 512 bytes.
std::string describe(const Processor& processor);

}  // namespace epilogue
