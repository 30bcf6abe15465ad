// How a turn ended: the trigger names of contract §4.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace epilogue {

enum class Verdict { finished, awaiting_user_input, error, stuck, rejected, stopped, timeout };

/// All of them, in the contract's order.
const std::vector<Verdict>& all_verdicts();

/// The trigger name, e.g. "awaiting_user_input".
std::string_view name_of(Verdict verdict);

/// The verdict of that name, or nullopt.
std::optional<Verdict> verdict_named(std::string_view name);

}  // namespace epilogue
