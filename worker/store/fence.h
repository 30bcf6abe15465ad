// The one error that means: another owner has a newer generation, everything in memory of this is void.
#pragma once

#include "base/result.h"

namespace epilogue {

/// The error, about `what`.
inline Failure fenced(std::string what) {
    return failure(Remedy::fatal, Cause::fenced, std::move(what) + ": another owner has a newer generation");
}
/// Whether it is that error.
inline bool is_fenced(const Error& error) {
    return error.cause == Cause::fenced;
}

}  // namespace epilogue
