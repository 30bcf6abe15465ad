// Which Linear issue a post goes to, and the forms of processor_json that say so.
#pragma once

#include <string>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

/// `issue_id` or `issue_key` is set.
struct LinearTarget {
    std::string issue_id;   ///< a UUID, the same in no other workspace
    std::string issue_key;  ///< "ENG-12"
    std::string workspace;  ///< as the row names it; empty: it names none

    bool operator==(const LinearTarget&) const = default;
    /// "acme/ENG-12"; without a key the issue's id.
    std::string describe() const;
    /// What Linear is told: the id, else the key.
    const std::string& issue() const { return issue_id.empty() ? issue_key : issue_id; }
};

/// Our short form, which is upstream's V0, and upstream's V1.
std::vector<ProcessorShape> linear_shapes();
/// The members that they read.
std::vector<WantedPart> linear_members();

}  // namespace epilogue
