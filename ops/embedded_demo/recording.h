// Recorded conversations that are part of the executable: it has no source tree where it is installed.
#pragma once

#include <string_view>
#include <vector>

namespace epilogue::demo {

struct Recording {
    std::string_view name;    ///< its file below tests/data/recordings
    std::string_view truth;   ///< its row of expected.jsonl
    std::string_view events;  ///< the file: one event a line, in the order of the log
};

/// All of them; the build writes the function from the files that CMakeLists.txt names.
const std::vector<Recording>& recordings();

}  // namespace epilogue::demo
