// Events of an OpenHands V1 agent server, as JSON; each has an id, a timestamp (ISO) and what it says.
#pragma once

#include <string>
#include <string_view>

namespace epilogue::testing::v1 {

std::string user_message(std::string_view id, std::string_view stamp);
std::string agent_message(std::string_view id, std::string_view stamp, std::string_view text);
std::string finish_action(std::string_view id, std::string_view stamp, std::string_view text);
std::string edit_action(std::string_view id, std::string_view stamp, std::string_view path);
std::string observation(std::string_view id, std::string_view stamp, std::string_view action_id,
                        std::string_view path);
/// A change of execution_status.
std::string status(std::string_view id, std::string_view stamp, std::string_view value);
/// What follows the status `error`.
std::string error_detail(std::string_view id, std::string_view stamp);

}  // namespace epilogue::testing::v1
