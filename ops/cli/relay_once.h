// `epilogue relay --once`, as a person sees it.
#pragma once

#include <string>

#include "base/config.h"
#include "ops/cli/command.h"

namespace epilogue::cli {

struct RelayOnce {
    std::string from;  ///< --once: a file, a folder, or an agent server's URL
    std::string key;   ///< --key: where that server's session key is; "": as the configuration has it
};

/// Brings everything that is there into the topic, says how far it is, and throws Exit when that is not all
/// of it.
void relay_once(const Config& config, const RelayOnce& once, const Common& common);

}  // namespace epilogue::cli
