// JSON that a platform answered: read without trust, never throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace epilogue {

/// Discarded when the text is no JSON.
nlohmann::json parsed(std::string_view text);

/// The text in a member; "" when there is none.
std::string text_at(const nlohmann::json& object, const char* name);

/// The texts of an array in a member; nullopt when it is no array.
std::optional<std::vector<std::string>> texts_at(const nlohmann::json& object, const char* name);

/// The integer in a member; 0 when there is none.
std::int64_t integer_at(const nlohmann::json& object, const char* name);

/// A platform's own words, on one line, short enough for a cause.
std::string one_line(std::string_view text);

}  // namespace epilogue
