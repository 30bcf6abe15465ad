// Events of an OpenHands V1 agent server, as JSON: the one builder for everything that tests publish or
// serve. `stamp` is the event's own time (ISO). What a test says about malformed events stands in that test.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epilogue::testing::v1 {

std::string user_message(std::string_view id, std::string_view stamp, std::string_view text = "go on");
std::string agent_message(std::string_view id, std::string_view stamp, std::string_view text);
/// The agent's finish; without a text it is one that the server could not parse.
std::string finish_action(std::string_view id, std::string_view stamp, std::optional<std::string_view> text);
std::string edit_action(std::string_view id, std::string_view stamp, std::string_view path);
std::string observation(std::string_view id, std::string_view stamp, std::string_view action_id,
                        std::string_view path);
/// A change of the conversation's state: `json_value` is JSON text.
std::string state(std::string_view id, std::string_view stamp, std::string_view key,
                  std::string_view json_value);
/// A change of execution_status.
std::string status(std::string_view id, std::string_view stamp, std::string_view value);
/// What follows the status `error`.
std::string error_detail(std::string_view id, std::string_view stamp, std::string_view code = "LLMError",
                         std::string_view detail = "no answer");

}  // namespace epilogue::testing::v1
