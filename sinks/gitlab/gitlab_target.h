// Where on GitLab a post goes, and the forms of processor_json that say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

struct GitlabTarget {
    std::string project;  ///< numeric id in decimal, or "group/name"
    std::int64_t iid = 0;
    bool merge_request = false;
    std::string discussion_id;                 ///< empty: a plain note
    std::optional<std::int64_t> note_id = {};  ///< the note of ours that is written into
    bool notify = false;                       ///< and a short note tells of it
    std::string path = {};  ///< of a project that is named by its id, where it is known: "group/name"

    bool operator==(const GitlabTarget&) const = default;
    /// "4455!7", of an issue "4455#7", the project in lower case; in a discussion "…/<id>"; of a note
    /// that is written into "…/n9" behind that.
    std::string describe() const;
};

/// Our short form, and upstream's of both generations.
std::vector<ProcessorShape> gitlab_shapes();
/// The members that these forms read.
std::vector<WantedPart> gitlab_members();

}  // namespace epilogue
