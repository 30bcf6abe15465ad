// What the texts in processor_json are made of, for the rules of all platforms.
#pragma once

#include <cstddef>
#include <string_view>

namespace epilogue {

/// True when `text` is not empty and holds nothing but '0' to '9'.
bool is_digits(std::string_view text);

/// True for '0' to '9', 'a' to 'z', 'A' to 'Z'.
bool is_letter_or_digit(char c);

/// True for an issue's key as Jira and Linear have them: "PROJ-12", at most 100 bytes. It goes into URLs.
bool is_issue_key(std::string_view text);

/// True for a name that is shown, and stands in names of settings: 1 to 200 bytes, no control characters, '"'
/// or '\\'.
bool is_site_name(std::string_view text);

/// How many segments the path "a/b/c" has; 0 when one of them is malformed. A segment goes into URLs, so it
/// must not be able to leave its place there: letters, digits, '-', '_' and '.', at most 100 bytes, not "."
/// or "..".
std::size_t path_segments(std::string_view path);

}  // namespace epilogue
