// Which receiver a post goes to, and the form of processor_json that says so.
#pragma once

#include <string>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

/// One of the two is set.
struct WebhookTarget {
    std::string endpoint;  ///< a name of [webhook.endpoints]
    std::string url;

    bool operator==(const WebhookTarget&) const = default;
    /// "ci", or "https://host/path"; a query, which may be secret, as "?" and a part of its hash.
    std::string describe() const;
};

/// Our short form; OpenHands has no such processor.
std::vector<ProcessorShape> webhook_shapes();
/// The members that it reads.
std::vector<WantedPart> webhook_members();

}  // namespace epilogue
