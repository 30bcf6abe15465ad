// A Result in a test: what is an error there is an exception here.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace epilogue::testing {

/// The value, or std::runtime_error with the error's text.
template <class T>
T expect(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().text);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace epilogue::testing
