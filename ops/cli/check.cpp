#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "ops/cli/command.h"

namespace epilogue::cli {

void add_check(CLI::App& program) {
    auto* command = program.add_subcommand("check", "Check the configuration; connects to nothing");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, false);
    command->callback([common] {
        load(*common);
        fmt::print("the configuration is good\n");
    });
}

}  // namespace epilogue::cli
