#include "agent/json.h"

#include <nlohmann/json.hpp>

namespace epilogue::agent {

std::string string_in(const Json& object, const char* name) {
    if (!object.is_object()) return "";
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace epilogue::agent
