// The one error that means: another owner has a newer generation, everything in memory of this is void.
#pragma once

#include "base/result.h"

namespace epilogue {

constexpr int fenced_code = -409;

inline Failure fenced(std::string what) {
    return fatal(std::move(what) + ": another owner has a newer generation", fenced_code);
}
inline bool is_fenced(const Error& error) {
    return error.code == fenced_code;
}

}  // namespace epilogue
