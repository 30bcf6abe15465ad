// Rows of upstream's processors as OpenHands writes them (tests/data/recordings/processor_json.jsonl), each
// led to a place of its own, and the place that a post of it must have.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/fake_platform_process.h"

namespace epilogue::testing {

struct UpstreamRow {
    std::string note;  ///< what the recording says of it
    std::string processor_type;
    std::string processor_json;
    std::string platform;  ///< "slack", "github" or "gitlab"
    std::string path;      ///< of its posts, as the fake platform names places
    std::string thread;    ///< their parent; "": none
};

/// How many of the recorded shapes are of a platform that is posted to.
constexpr std::size_t upstream_shapes = 14;

/// The shape `number % upstream_shapes`, for a place that only `number` has. Makes the review threads it
/// needs, of two comments: upstream names the second.
UpstreamRow upstream_row(const FakePlatformProcess& platform, std::size_t number);

}  // namespace epilogue::testing
