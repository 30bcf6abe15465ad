// The forms of secrets that the rules know (tests/data/secret_forms.txt), each with a secret that is drawn:
// none stands in this tree.
#pragma once

#include <string>
#include <vector>

namespace epilogue::testing {

struct SecretForm {
    std::string text;
    std::string secret;  ///< as it stands in the text
};

/// All of them.
std::vector<SecretForm> secret_forms();

/// The lines of a file of tests/data that are no comments; `\n` in them is a line's end, `\\` a backslash.
std::vector<std::string> lines_in(const std::string& name);

/// `form` with each `{alphabet:count}` drawn.
std::string filled_form(const std::string& form);

}  // namespace epilogue::testing
