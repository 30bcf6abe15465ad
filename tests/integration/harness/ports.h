// Loopback ports for the servers of a test.
#pragma once

#include "ops/process/ports.h"

namespace epilogue::testing {

using process::free_port;

}  // namespace epilogue::testing
