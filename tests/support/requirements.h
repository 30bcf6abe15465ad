// Programs the suites need and do not bring along.
#pragma once

#include <string>
#include <vector>

#include "base/process/programs.h"

namespace epilogue::testing {

using process::find_program;

/// Returns when all `programs` are installed. Otherwise says which are missing and how to install them:
/// throws std::runtime_error, or, when EPILOGUE_ALLOW_SKIP is 1, ends the process with 77 (ctest: skipped).
void require_programs(const std::vector<std::string>& programs);

}  // namespace epilogue::testing
