// A folder that goes away with its object.
#pragma once

#include "base/process/temp_dir.h"

namespace epilogue::testing {

using process::TempDir;

}  // namespace epilogue::testing
