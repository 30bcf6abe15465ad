// Puts the conversations that may lie in a gap of the log on the reconciler's list. Records that were gone
// before they were read may have ended any turn that a callback waits for, so all of them are asked about at
// once: in portions, each with how far it has come in one transaction, so that the next worker goes on there.
#pragma once

#include "base/io/log.h"
#include "base/result.h"
#include "worker/store/store.h"

namespace epilogue {

/// Used by one thread.
class GapSurvey {
  public:
    /// `has_default`: conversations without an agent server of their own have one, too.
    GapSurvey(Store& store, bool has_default) : store_(store), has_default_(has_default) {}

    /// Lists portions until as many requests wait as are worked at within seconds, or nothing is left.
    /// Errors: the database's.
    Result<void> step();

  private:
    /// One portion; false when there is nothing to do now.
    Result<bool> list_portion();

    Store& store_;
    const bool has_default_;
    RateLimitedLog progress_;
};

}  // namespace epilogue
