// Posts that are owed from the beginning of a scenario, without any records that would have led to them.
#pragma once

#include <cstdint>

#include "tests/oracle/oracle.h"
#include "tests/sim/database.h"

namespace epilogue::sim {

/// Owes one post to the place with that number, as a batch would have planned it.
testing::OwedPost owe(Database& database, std::int64_t number);

/// Whether every delivery is final, and checked for duplicates.
bool all_over(const Database& database);

}  // namespace epilogue::sim
