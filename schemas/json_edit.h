// Changes one member in the text of a JSON document: everything else stays byte for byte as it was written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// `document` with `value`, which is JSON, as the value of the member at `path` (names from the outermost
/// object inwards, not empty). A member that is missing is added at the end of its object; of duplicates the
/// last is changed, the one that JsonReader reads. `document` is a text that JsonReader took. nullopt when
/// something on the way to the member is missing or no object.
std::optional<std::string> with_member(std::string_view document, const std::vector<std::string>& path,
                                       std::string_view value);

/// `text` (UTF-8) as a JSON string, with its quotes.
std::string json_string(std::string_view text);

}  // namespace epilogue
