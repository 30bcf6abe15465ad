// Every write to the positions, the deliveries and the callbacks' status, kept by triggers of the database in
// tables of the test's own, to be judged when all is over.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "tests/oracle/oracle.h"
#include "tests/support/rig.h"

namespace epilogue::testing {

/// Begins to keep it; no worker may run yet.
void keep_history(const Rig& rig);

struct HistoryCounts {
    std::size_t positions = 0;
    std::size_t deliveries = 0;
    std::size_t statuses = 0;
    std::size_t empty_looks = 0;  ///< look-ups on the platform that saw nothing
};

/// Shows all of it to the oracle in the order of the writes; between them, by time, the look-ups of
/// deliveries that `platform_log` (FakePlatformProcess::log) shows to have seen nothing. `owed` says which
/// delivery is looked for where.
HistoryCounts judge_history(const Rig& rig, const nlohmann::json& platform_log,
                            const std::vector<OwedPost>& owed, Oracle& oracle);

}  // namespace epilogue::testing
