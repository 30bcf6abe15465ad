// What the demo says at its end, and while it is kept running.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/terminal.h"
#include "ops/embedded_demo/verifier.h"

namespace epilogue::demo {

/// The table of what was expected and what came, and a line for each post that is wrong or missing.
void say_table(Terminal& terminal, std::size_t conversations, const Verifier& verifier);

/// The newest lines of the log, which is removed with the environment.
void say_end_of_log(Terminal& terminal, const DemoEnvironment& environment);

/// Where everything is that goes on running, and commands to try. `parts`: lines for what runs beside the
/// environment; `commands`: more commands, which are given its configuration.
void say_addresses(Terminal& terminal, DemoEnvironment& environment,
                   const std::vector<std::string>& parts = {}, const std::vector<std::string>& commands = {});

}  // namespace epilogue::demo
