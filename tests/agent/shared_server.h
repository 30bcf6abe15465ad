// The one agent server of a test program whose cases share it: it takes long to start.
#pragma once

#include "base/process/settings_file.h"
#include "tests/agent/real_server.h"

namespace epilogue::testing {

/// The server of the wanted version. The first call starts it.
RealServer& server();

/// What leads a worker to it, and `more`.
process::Settings asks_the_server(const process::Settings& more = {});

}  // namespace epilogue::testing
