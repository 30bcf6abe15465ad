// The whole examination: every dependency asked at the same time, each with a deadline of its own, so that
// what is unreachable is known within ten seconds. Writes nothing, posts nothing.
#pragma once

#include "base/config.h"
#include "ops/doctor/finding.h"

namespace epilogue::doctor {

/// Examines everything that `config` leads to.
Diagnosis examine(const Config& config);

}  // namespace epilogue::doctor
