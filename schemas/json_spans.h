// Where the parts of a JSON text stand, without reading what is in them: a walk that is linear in the text
// and needs no memory for its depth. Whether the parts are JSON is for JsonReader to say.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace epilogue {

/// The first place from `at` on that is no white space; the text's size when there is none.
std::size_t skip_json_blanks(std::string_view text, std::size_t at);

/// Behind the string that begins at `at` with its quote; the text's size when it does not end.
std::size_t end_of_json_string(std::string_view text, std::size_t at);

/// Behind the value that begins at `at`; the text's size when it does not end.
std::size_t end_of_json_value(std::string_view text, std::size_t at);

/// The elements of the array that `text` is as a whole, each as it is written. nullopt when it is none.
std::optional<std::vector<std::string_view>> json_elements(std::string_view text);

/// One member of an object, as it is written.
struct JsonMember {
    std::string_view name;  ///< with its quotes and escapes
    std::string_view value;
};
/// The members of the object that `text` is as a whole. nullopt when it is none.
std::optional<std::vector<JsonMember>> json_members(std::string_view text);

}  // namespace epilogue
