#include "base/config_environment.h"

#include <string_view>

#include <unistd.h>

namespace epilogue {

Environment process_environment() {
    Environment result;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const auto equals = text.find('=');
        if (equals != std::string_view::npos) result.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return result;
}

}  // namespace epilogue
