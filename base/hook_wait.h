// How long the verdict of a stop hook is waited for, where no setting says it.
#pragma once

#include <chrono>

namespace epilogue {

/// After this long a `finished` counts without a verdict (contract §4).
constexpr std::chrono::seconds default_hook_wait{600};

}  // namespace epilogue
