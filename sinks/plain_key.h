// The API key in plain text that rows of OpenHands' on Jira (V1) have. A row is kept as it is written, so
// none of ours may hold one.
#pragma once

#include <string_view>

namespace epilogue {

/// The member of a processor's JSON that has it.
inline constexpr std::string_view plain_key_member = "decrypted_api_key";

/// True for JSON that has a key there; false also for what is no JSON.
bool has_plain_key(std::string_view processor_json);

}  // namespace epilogue
