// What the fake platform recorded of each request, as far as a judge of posts needs it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/instant.h"

namespace epilogue::testing {

struct PlatformRequest {
    std::size_t n = 0;
    Instant at{};
    std::string method;
    std::string place;        ///< "github:owner/repo#7"; empty: another resource
    std::string delivery_id;  ///< of the marker in its body; empty: it holds none
    bool applied = false;
    bool held = false;
    int status = 0;  ///< what was answered; 0: nothing yet, or not in whole
};

/// The requests of FakePlatformProcess::log, oldest first.
std::vector<PlatformRequest> requests_of(const nlohmann::json& log);

/// The delivery that the marker in a body names; empty when there is none.
std::string delivery_id_in(const std::string& body);

}  // namespace epilogue::testing
