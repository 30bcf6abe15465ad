// Which commands run tests or a build.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epilogue {

enum class CheckKind { test, build };

/// A command that runs tests or a build.
struct CheckCommand {
    CheckKind kind = CheckKind::test;
    std::string text;        ///< the part that does: without `cd x &&`, assignments, redirections, `| tail`
    bool exit_tells = true;  ///< the shell's exit code is that of the run, and not that of a pipe's end
};

/// nullopt for any other command. What runs tests and a build in one chain is a test.
std::optional<CheckCommand> check_in(std::string_view command);

}  // namespace epilogue
