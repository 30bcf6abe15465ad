// Where a process runs, as a name that no other running process has.
#pragma once

#include <cstdint>
#include <string>

namespace epilogue::process {

/// Names the place of the process that listens on that TCP port: the same for the next process there, after a
/// crash or a restart, and another one on every other machine, in every other container, and after the
/// machine was started anew. At most 64 characters. "" where Linux does not tell.
std::string place_of_listener(std::uint16_t port);

}  // namespace epilogue::process
