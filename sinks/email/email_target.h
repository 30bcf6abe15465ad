// Who gets a mail, and the form of processor_json that says so.
#pragma once

#include <string>
#include <vector>

#include "schemas/json_part.h"
#include "sinks/port/processor_shape.h"

namespace epilogue {

struct EmailTarget {
    std::vector<std::string> to;  ///< addresses, one or more
    std::string subject = {};     ///< empty: the conversation's id

    bool operator==(const EmailTarget&) const = default;
    /// "a@b.example,c@d.example"; more than three: the first, and a part of the hash
    /// of all. A subject as "/" and a part of its hash.
    std::string describe() const;
};

/// Our short form; OpenHands has no such processor.
std::vector<ProcessorShape> email_shapes();
/// The members that it reads.
std::vector<WantedPart> email_members();

}  // namespace epilogue
