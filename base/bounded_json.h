// JSON that others wrote (platforms, agent servers, users, other programs), read without trust. nlohmann's
// parser takes any text, but copying and dumping what it made recurse: a text nested deep enough ends the
// process. So each text is measured before it is parsed. Product code parses JSON with nlohmann here and
// nowhere else (tests/tidy/rules.py).
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace epilogue {

constexpr std::size_t max_json_depth = 1024;  ///< arrays and objects inside each other, of events and answers
constexpr std::size_t max_answer_json_bytes = std::size_t{256} << 20U;
/// Values of one text: the parsed tree takes up to a hundred bytes for each.
constexpr std::size_t max_json_values = std::size_t{1} << 20U;
/// What ordered objects may cost while they are built: a step for each comparison of two names (a new member
/// is compared with all before it), sixteen for each value that is copied because an object around it grows.
constexpr std::size_t max_json_steps = std::size_t{256} << 20U;

/// Why a text is not parsed ("nested more than 1024 deep", say), in time linear in its length; empty: nothing
/// is in the way. Says nothing about whether it is JSON.
std::string_view json_objection(std::string_view text);

/// The text as JSON; discarded when it is none, and when json_objection() has one. Never throws for the text.
nlohmann::json parse_json(std::string_view text);
/// The same, with the members of objects in the order in which they were written.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

}  // namespace epilogue
