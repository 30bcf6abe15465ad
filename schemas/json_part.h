// What is kept of a JSON document: of megabytes, the few members that the caller asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// Elements kept of one array: small elements would take a hundred times the memory of their text.
constexpr std::size_t max_kept_elements = 4096;

/// The name of a wanted part that stands for every member that is not named beside it.
constexpr std::string_view any_member = "*";

/// Which member to keep. `members` is what to keep of its value when that is an object, or, when it is an
/// array, of each of its elements.
struct WantedPart {
    std::string_view name;
    std::vector<WantedPart> members = {};

    /// What of the wanted members that name is: itself, else any_member; null when there is neither.
    const WantedPart* find(std::string_view member) const;
};

/// One value that was kept, with those of its members that were wanted.
struct JsonPart {
    enum class Type { absent, null, boolean, number, string, array, object };

    Type type = Type::absent;
    std::string_view name;        ///< of the member that holds it, as WantedPart spells it
    std::string key = {};         ///< the same as it was written, where any_member stands for it
    std::string text;             ///< of a string, unescaped; of any other scalar, as it was written
    std::vector<JsonPart> parts;  ///< wanted members of an object, elements of an array

    /// The member of that name; an absent part when there is none or this is no object.
    const JsonPart& operator[](std::string_view member) const;
    /// The member of that name, empty: a new one, or the one that was there, which a duplicate replaces.
    JsonPart& replace(std::string_view member);
    /// The same for a member that `wanted` stands for. nullptr: max_kept_elements of any_member are kept
    /// already.
    JsonPart* keep(const WantedPart& wanted, std::string_view member);

    /// True unless the member is missing or null.
    bool is_given() const { return type != Type::absent && type != Type::null; }
    bool is_true() const { return type == Type::boolean && text == "true"; }
    /// The text when this is a string.
    std::optional<std::string_view> string() const;
    /// The text when this is a string, else "".
    std::string_view string_or_empty() const { return string().value_or(std::string_view()); }
    /// The value when this is a number written as an integer that fits.
    std::optional<std::int64_t> integer() const;
};

}  // namespace epilogue
