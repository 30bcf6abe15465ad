#include "tests/agent/hooks.h"

#include <nlohmann/json.hpp>

namespace epilogue::testing {

std::string SlowHook::request() const {
    using Json = nlohmann::json;
    const std::string folder = folder_.string();
    std::string command =
        "mkdir -p " + folder + "; touch " + folder + "/begun; sleep " + std::to_string(seconds_) + "; ";
    if (denies_first_)
        command +=
            "test -e " + folder + "/denied || { touch " + folder + "/denied; echo 'Go on.' >&2; exit 2; }; ";
    command += "touch " + folder + "/allowed";
    const Json hook{{"type", "command"}, {"command", command}, {"timeout", 60}};
    return Json{{"hook_config", {{"stop", {{{"matcher", "*"}, {"hooks", {hook}}}}}}}}.dump();
}

}  // namespace epilogue::testing
