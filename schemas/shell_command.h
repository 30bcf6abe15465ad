// Shell commands as far as they say plainly what they do: the simple commands of a chain, and their words.
// What a shell would expand (variables, patterns, substitutions) stays as it is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// One simple command of a chain.
struct SimpleCommand {
    std::string text;   ///< trimmed, with its redirections
    std::string after;  ///< what stands behind it: "&&", "||", "|", ";", "&", or "" at the end
};

/// The simple commands of a chain or a pipe. Quoted text and the lines of a here-document are no commands.
std::vector<SimpleCommand> chain_of(std::string_view command);

using ShellWords = std::vector<std::string_view>;

/// The words of a command without the quotes around them; they point into `command`.
ShellWords words_of(std::string_view command);

/// A command's name, subcommands and operands: without assignments and wrappers (sudo, env, …) before it,
/// without its options.
ShellWords bare_words(const ShellWords& words);

/// A simple command without what stands before it (assignments) and without its redirections.
std::string plain_command(std::string_view text);

}  // namespace epilogue
