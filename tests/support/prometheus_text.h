// What /metrics answers, as numbers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue::testing {

/// Value by series, named as in the text: `name` or `name{label="value",…}`.
using Metrics = std::map<std::string, double>;

/// Reads Prometheus' text format. Throws std::runtime_error for a line it cannot read.
Metrics parse_metrics(std::string_view text);

/// The sum over all series of this name that have each of `labels` (as written: `state="SENT"`); 0 when there
/// is none.
double total(const Metrics& metrics, const std::string& name, const std::vector<std::string>& labels = {});

}  // namespace epilogue::testing
