// How this client reads and writes JSON. For its own files only.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace epilogue::agent {

/// Keeps members in the order in which the server wrote them.
using Json = nlohmann::ordered_json;

/// The string member of that name; "" when `object` is no object or has none.
std::string string_in(const Json& object, const char* name);

/// The member of that name; null when `object` is no object or has none.
const Json& member_of(const Json& object, const char* name);

/// One line; bytes that are not UTF-8 become U+FFFD.
std::string text_of(const Json& json);

}  // namespace epilogue::agent
