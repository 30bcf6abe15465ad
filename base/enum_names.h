// The names of an enum's values as tables, metrics and JSON spell them: one list for both ways.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace epilogue {

/// The names of an enum whose `N` values count from 0 on, in their order. Name the last value in a
/// static_assert beside it, so that a value that is added without a name does not compile:
/// static_assert(names.ends_with(Mode::every_turn));
template <class Enum, std::size_t N>
struct EnumNames {
    std::array<std::string_view, N> names;

    /// The name of a value; empty for what is no value of the enum.
    constexpr std::string_view of(Enum value) const {
        const auto index = static_cast<std::size_t>(value);
        return index < N ? names[index] : std::string_view();
    }
    /// The value of that name; nullopt when no value has it.
    constexpr std::optional<Enum> named(std::string_view name) const {
        for (std::size_t i = 0; i < N; ++i)
            if (names[i] == name) return static_cast<Enum>(i);
        return std::nullopt;
    }
    /// Whether `last` is the value that has the last name.
    constexpr bool ends_with(Enum last) const { return static_cast<std::size_t>(last) + 1 == names.size(); }
};

}  // namespace epilogue
