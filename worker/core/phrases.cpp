#include "worker/core/phrases.h"

#include "base/enum_names.h"

namespace epilogue {
namespace {

constexpr EnumNames<Language, 2> language_names{{"en", "de"}};
static_assert(language_names.ends_with(Language::german));

}  // namespace

std::string_view name_of(Language language) {
    return language_names.of(language);
}

const std::vector<Language>& all_languages() {
    static const std::vector<Language> all{Language::english, Language::german};
    return all;
}

const PhraseTable& phrases_of(Language language) {
    return language == Language::german ? german_phrases() : english_phrases();
}

std::string_view phrase(Language language, Phrase phrase) {
    const PhraseTable& table = phrases_of(language);
    const auto found = table.find(phrase);
    return found == table.end() ? std::string_view() : found->second;
}

}  // namespace epilogue
