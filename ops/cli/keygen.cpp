#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/secret.h"
#include "ops/cli/command.h"

namespace epilogue::cli {

void add_keygen(CLI::App& program) {
    auto* command = program.add_subcommand("keygen", "Print a new key for [security] keys");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, false);  // accepted as everywhere, but a key needs no configuration
    command->callback([common] { fmt::print("{}\n", new_key()); });
}

}  // namespace epilogue::cli
