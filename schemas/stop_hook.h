// Hooks that an agent server runs when its agent wants to end a run, and that may send it on: whether a hook
// configuration holds one.
#pragma once

#include "schemas/json_part.h"

namespace epilogue {

/// What has to be read of a configuration: the wanted member of it.
const WantedPart& wanted_of_stop_hooks();

/// Whether the configuration `hook_config` holds a stop hook.
bool has_stop_hook(const JsonPart& hook_config);

}  // namespace epilogue
