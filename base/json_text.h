// JSON written as text, in one way for all: bytes that are not UTF-8 become U+FFFD, so writing never throws.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace epilogue {

/// On one line, without blanks.
std::string json_line(const nlohmann::json& document);
std::string json_line(const nlohmann::ordered_json& document);

/// Over several lines, indented by two blanks, for people.
std::string json_indented(const nlohmann::json& document);
std::string json_indented(const nlohmann::ordered_json& document);

}  // namespace epilogue
