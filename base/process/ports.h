// Loopback ports for private servers.
#pragma once

namespace epilogue::process {

/// A TCP port of 127.0.0.1 on which no process listens now and that no living process has been given by this
/// function. It lies below the kernel's range for outgoing connections, so none of those takes it before a
/// server listens on it, or while that server restarts. Throws std::runtime_error when none is found.
/// Thread-safe.
unsigned short free_port();

}  // namespace epilogue::process
