// The files that hold our secrets: who else may read them?
#pragma once

#include "base/config.h"
#include "ops/doctor/finding.h"

namespace epilogue::doctor {

/// A warning for each file of a secret, and each key of a certificate of ours, that every user of this
/// machine may read; one finding that all is well when there are such files and none of them is open.
Findings judge_secret_files(const Config& config);

}  // namespace epilogue::doctor
