#include "base/json_text.h"

#include <nlohmann/json.hpp>

namespace epilogue {
namespace {

template <class Json>
std::string text_of(const Json& document, int indent) {
    return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string json_line(const nlohmann::json& document) {
    return text_of(document, -1);
}

std::string json_line(const nlohmann::ordered_json& document) {
    return text_of(document, -1);
}

std::string json_indented(const nlohmann::json& document) {
    return text_of(document, 2);
}

std::string json_indented(const nlohmann::ordered_json& document) {
    return text_of(document, 2);
}

}  // namespace epilogue
