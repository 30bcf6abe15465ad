// Where on GitHub a post goes, and the forms of processor_json that say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

struct GithubTarget {
    std::string repo;  ///< "owner/name"
    std::int64_t number = 0;
    std::optional<std::int64_t> review_comment_id;  ///< reply in that review thread
    std::optional<std::int64_t> installation_id;
    std::optional<std::int64_t> comment_id = {};  ///< the comment of ours that is written into
    bool notify = false;                          ///< and a short comment tells of it

    bool operator==(const GithubTarget&) const = default;
    /// "owner/name#42" in lower case; of a review thread "…#42/r7"; of a comment that is
    /// written into "…/c9" behind that.
    std::string describe() const;
};

/// Our short form, and upstream's of both generations.
std::vector<ProcessorShape> github_shapes();
/// The members that these forms read.
std::vector<WantedPart> github_members();

}  // namespace epilogue
