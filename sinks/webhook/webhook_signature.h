// Signatures as Standard Webhooks has them: v1, HMAC-SHA256 of "id.timestamp.body". (sinks.md §1.5)
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epilogue {

/// The bytes of a signing secret, "whsec_" and the base64 of 24 to 64 bytes; nullopt for any other text.
std::optional<std::string> webhook_key(std::string_view secret);

/// "v1,<base64>": what `key` makes of the message that is sent as `id` at `timestamp` (Unix seconds,
/// decimal).
std::string webhook_signature(std::string_view key, std::string_view id, std::string_view timestamp,
                              std::string_view body);

}  // namespace epilogue
