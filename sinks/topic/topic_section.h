// [outcomes] of the configuration.
#pragma once

#include <string>

#include "base/config_keys.h"

namespace epilogue {

struct OutcomesSection {
    std::string topic;  ///< empty: none is set, its records wait for one
    bool operator==(const OutcomesSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection outcomes_section();

}  // namespace epilogue
