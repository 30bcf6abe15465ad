// A worker that says why it is not ready.
#pragma once

#include <string>

#include "tests/support/epilogue.h"

namespace epilogue::testing {

/// Returns when /readyz is 503 and names the reason, and /healthz is 200 all the same. Throws
/// std::runtime_error, with what it says instead, when it does not or the worker has ended.
void wait_unready(WorkerProcess& worker, const std::string& reason);

}  // namespace epilogue::testing
