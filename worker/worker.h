// The worker: builds its parts, starts its threads, and drains them in order when it is told to stop.
#pragma once

#include <stop_token>

#include "base/process/reloader.h"
#include "base/result.h"

namespace epilogue {

/// Runs until `stop`, then drains: no new batch, no new post, offsets committed, group left; at most [worker]
/// drain_s. Takes reloaded settings as they come (reloader.h). Returns when all is over. Errors:
/// Remedy::fatal for what no waiting mends (an address in use, tables older than needed, a property that
/// librdkafka refuses).
Result<void> run_worker(Reloader& settings, const std::stop_token& stop);

}  // namespace epilogue
