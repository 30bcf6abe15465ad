// Where a post goes and with what right, or why there is no request for it: for sinks whose rows may name a
// site or a workspace that is not configured.
#pragma once

#include <string>

#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// `PlaceTarget` says where, `Access` what is needed to ask there.
template <class PlaceTarget, class Access>
struct PostPlace {
    const PlaceTarget* target = nullptr;
    Access* at = nullptr;        ///< null: `objection` says why nothing is asked
    std::string objection = {};  ///< for people
    bool is_final = false;       ///< no setting would help

    /// The attempt that was not made.
    Attempt attempt() const { return not_sent(is_final ? Answer::refused : Answer::unauthorised, objection); }
    /// The look-up that was not made.
    LookupResult lookup() const { return is_final ? lookup_failed(objection) : forbidden(objection); }
};

}  // namespace epilogue
