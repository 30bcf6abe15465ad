// Where on a platform a post goes. Only the sink knows the type; all others pass the value on.
#pragma once

#include <any>
#include <string>

namespace epilogue {

/// Holds the sink's own type: GithubTarget (sinks/github/github_target.h), SlackTarget, …. Read it by
/// target_in.
using Target = std::any;

/// The place as the type of the sink that reads it; null when it is another sink's.
template <class Place>
const Place* target_in(const Target& target) {
    return std::any_cast<Place>(&target);
}

/// Which sink posts, and where: what a callback row's processor_type and processor_json say.
struct Processor {
    std::string sink;  ///< short name: slack | github | gitlab | log
    Target target;
    bool only_from_here = false;  ///< only turns that came from this place are reported
};

}  // namespace epilogue
