// Numbers that cannot be mixed up.
#pragma once

#include <compare>
#include <cstdint>

namespace epilogue {

/// A value with a name of its own: two of them with different tags do not convert into each other.
template <class T, class Tag>
struct Named {
    T value{};
    auto operator<=>(const Named&) const = default;
};

using Offset = Named<std::int64_t, struct OffsetTag>;          ///< of a record that was read
using NextOffset = Named<std::int64_t, struct NextOffsetTag>;  ///< what a commit wants: where reading goes on
using Generation = Named<std::int64_t, struct GenerationTag>;  ///< fencing token; grows with every claim

}  // namespace epilogue
