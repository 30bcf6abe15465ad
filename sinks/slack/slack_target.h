// Where on Slack a post goes, and the forms of processor_json that say so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

struct SlackTarget {
    std::string channel;
    std::string thread_ts;        ///< empty: a message of its own
    std::string team_id;          ///< empty: the default workspace
    std::string message_ts = {};  ///< the message of ours that is written into; empty: none
    bool notify = false;          ///< and a short message tells of it

    bool operator==(const SlackTarget&) const = default;
    /// "T…/C…/1763715600.000100"; without a team "-/C…", which keeps a channel apart from a team; of a
    /// message that is written into "…/m1763715600.000200" behind that.
    std::string describe() const;
};

/// Our short form, and upstream's of both generations.
std::vector<ProcessorShape> slack_shapes();
/// The members that these forms read.
std::vector<WantedPart> slack_members();

}  // namespace epilogue
