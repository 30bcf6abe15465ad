// Base64, as RFC 4648 has it first: with padding.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace epilogue {

/// The bytes as base64.
std::string base64_of(std::string_view bytes);

/// What the base64 stands for; nullopt when it is none, or stands for more than `max_bytes`.
std::optional<std::string> bytes_of_base64(std::string_view text, std::size_t max_bytes);

}  // namespace epilogue
