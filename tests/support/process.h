// Child processes that cannot outlive the test.
#pragma once

#include "base/process/process.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

using process::Command;
using process::Finished;
using process::is_gone;
using process::Process;
using process::run;

}  // namespace epilogue::testing
