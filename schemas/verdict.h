// How a turn ended, or what holds an open one up: the trigger names of contract §4.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace epilogue {

enum class Verdict {
    finished,
    awaiting_user_input,
    error,
    stuck,
    rejected,
    stopped,
    timeout,
    // Notices: they end nothing, and are told only to those who ask for them.
    waiting_for_confirmation,
    paused,
};

/// Those that end a turn, in the contract's order.
const std::vector<Verdict>& all_verdicts();
/// The others.
const std::vector<Verdict>& all_notices();
bool is_notice(Verdict verdict);

/// The trigger name, e.g. "awaiting_user_input".
std::string_view name_of(Verdict verdict);

/// The verdict of that name, or nullopt.
std::optional<Verdict> verdict_named(std::string_view name);

}  // namespace epilogue
