// What a part of the worker reports about itself: numbers for /metrics and what is missing for /readyz.
#pragma once

#include "worker/observe/metrics.h"
#include "worker/observe/readiness.h"

namespace epilogue {

/// Both outlive the part.
struct Telemetry {
    Metrics& metrics;
    Readiness& readiness;
};

}  // namespace epilogue
