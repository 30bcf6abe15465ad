// Which Jira issue a post goes to, and the forms of processor_json that say so.
#pragma once

#include <string>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

struct JiraTarget {
    std::string issue_key;  ///< "PROJ-12"
    std::string base_url;   ///< of the Jira that a row names; empty: it names none

    bool operator==(const JiraTarget&) const = default;
    /// "PROJ-12".
    std::string describe() const { return issue_key; }
};

/// Our short form, and upstream's of both generations, for Cloud and Data Center.
std::vector<ProcessorShape> jira_shapes();
/// The members that these forms read.
std::vector<WantedPart> jira_members();

}  // namespace epilogue
