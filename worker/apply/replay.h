// A dead letter tried again: applied to the state, as its record would have been. Idempotent: repeats are
// recognised by event id, as everywhere.
#pragma once

#include <cstdint>
#include <string>

#include "worker/apply/batch.h"

namespace epilogue {

enum class ReplayResult {
    applied,
    repeat,    ///< its event was applied before
    unusable,  ///< it still cannot be used
    unknown_id,
};

struct Replayed {
    ReplayResult result = ReplayResult::unknown_id;
    std::string why;  ///< unusable: the reason
};

/// Applies one dead letter. Errors: the database's; Remedy::poison when it refuses the event still.
Result<Replayed> replay_dead_letter(Store& store, const Planner& planner, const BatchRules& rules,
                                    std::int64_t id);

}  // namespace epilogue
