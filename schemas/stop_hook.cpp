#include "schemas/stop_hook.h"

#include <algorithm>

namespace epilogue {

const WantedPart& wanted_of_stop_hooks() {
    static const WantedPart wanted{"stop", {{"hooks"}}};
    return wanted;
}

bool has_stop_hook(const JsonPart& hook_config) {
    const auto& matchers = hook_config["stop"].parts;
    return std::any_of(matchers.begin(), matchers.end(),
                       [](const JsonPart& matcher) { return matcher["hooks"].is_given(); });
}

}  // namespace epilogue
