// A folder that goes away with its object.
#pragma once

#include "ops/process/temp_dir.h"

namespace epilogue::testing {

using process::TempDir;

}  // namespace epilogue::testing
