// Why an agent stopped, said to a person: each code that OpenHands is known to give, in one table.
// docs/errors.md is printed from it. What an exception says is never shown: it holds addresses, paths and
// keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "worker/core/phrases.h"

namespace epilogue {

enum class Retry { helps, helps_later, helps_not };
enum class Mender { you, administrator, wait };

struct CatalogueEntry {
    enum class Of {
        v0_reason,
        v1_code,
        v1_kind,
        v1_wrapper,  ///< a code that tells little by itself, such as a class of the language
    };
    Of of = Of::v1_code;
    std::string_view
        code;  ///< V0: what its reason is, or begins with; V1: the code, or its classification's kind
    Phrase sentence = Phrase::unknown_error;
    Retry retry = Retry::helps;
    Mender mender = Mender::you;
    Phrase advice = Phrase::advise_look;
};

/// All rows.
std::span<const CatalogueEntry> error_catalogue();

/// The entry of an error: by its whole code or reason, by the name before its first colon (without packages
/// before that name), or else by V1's kind, or by the name of a class that
/// tells less than the kind. An error that none of them knows has the neutral entry.
const CatalogueEntry& catalogue_entry(std::string_view code, std::string_view kind);

/// The error's code as it may stand in public: V1's class name, V0's reason id, or the name before the colon
/// of a longer text. "": it has none.
std::string public_code(std::string_view code);

/// What happened, in one sentence.
std::string error_sentence(Language language, std::string_view code, std::string_view kind);

}  // namespace epilogue
