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
    std::string site =
        {};  ///< what a row calls its site: its workspace, or the cloud's id; empty: it does not

    bool operator==(const JiraTarget&) const = default;
    /// "PROJ-12"; of a site that the row names "acme/PROJ-12", in lower case.
    std::string describe() const;
};

/// Our short form, and upstream's of both generations, for Cloud and Data Center.
std::vector<ProcessorShape> jira_shapes();
/// The members that these forms read.
std::vector<WantedPart> jira_members();

}  // namespace epilogue
