// Puts the conversations that may lie in a gap of the log on the reconciler's list. Records that were gone
// before they were read may have ended any turn that a callback waits for, so all of them are asked about at
// once: in portions, each with how far it has come in one transaction, so that the next worker goes on there.
#pragma once

#include <string>
#include <utility>

#include "base/io/log.h"
#include "base/result.h"
#include "worker/apply/batch.h"
#include "worker/store/gap_rows.h"
#include "worker/store/store.h"

namespace epilogue {

struct GapRules {
    std::string topic;
    std::string group;
    BatchRules batch;
};

/// Used by one thread.
class GapSurvey {
  public:
    GapSurvey(Store& store, const Planner& planner, GapRules rules)
        : store_(store), planner_(planner), rules_(std::move(rules)) {}

    /// Lists portions until as many requests wait as are worked at within seconds, or nothing is left.
    /// Errors: the database's.
    Result<void> step();

  private:
    /// One portion; false when there is nothing to do now.
    Result<bool> list_portion();
    /// One conversation of it that no server can be asked about.
    Result<void> note_no_server(Transaction& transaction, const ConversationId& id, const GapRow& gap) const;

    Store& store_;
    const Planner& planner_;
    const GapRules rules_;
    RateLimitedLog progress_;
};

}  // namespace epilogue
