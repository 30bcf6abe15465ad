#include "worker/core/cut_words.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace epilogue {
namespace {

constexpr std::string_view above = "\n\n";

/// The number in a line that is `phrase` with a number in its place; nullopt when it is not.
std::optional<std::string_view> number_in(std::string_view line, std::string_view phrase) {
    const auto place = phrase.find("{}");
    const auto before = phrase.substr(0, place);
    const auto behind = phrase.substr(place + 2);
    if (line.size() <= before.size() + behind.size() || !line.starts_with(before) || !line.ends_with(behind))
        return std::nullopt;
    const auto number = line.substr(before.size(), line.size() - before.size() - behind.size());
    if (number.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return number;
}

/// How many characters the last line says are missing, in that language.
std::optional<std::string_view> missing_in(std::string_view words, Language language) {
    const auto at = words.rfind(above);
    if (at == std::string_view::npos) return std::nullopt;
    const auto line = words.substr(at + above.size());
    for (const Phrase name : {Phrase::one_character_cut, Phrase::characters_cut})
        if (const auto number = number_in(line, phrase(language, name))) return number;
    return std::nullopt;
}

}  // namespace

std::string cut_words_in(Language language, std::string words) {
    const auto missing = missing_in(words, Language::english);
    if (!missing || language == Language::english) return words;
    const auto name = *missing == "1" ? Phrase::one_character_cut : Phrase::characters_cut;
    const std::string line = fmt::format(fmt::runtime(phrase(language, name)), *missing);
    words.resize(words.rfind(above) + above.size());
    return words + line;
}

bool are_cut_words(std::string_view words) {
    return std::ranges::any_of(all_languages(),
                               [&](Language language) { return missing_in(words, language).has_value(); });
}

}  // namespace epilogue
