// Loopback ports for the servers of a test.
#pragma once

#include "base/process/ports.h"

namespace epilogue::testing {

using process::free_port;

}  // namespace epilogue::testing
