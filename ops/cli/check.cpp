#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/io/kafka.h"
#include "ops/cli/command.h"
#include "worker/settings.h"

namespace epilogue::cli {

void add_check(CLI::App& program) {
    auto* command = program.add_subcommand("check", "Check the configuration; connects to nothing");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, false);
    command->callback([common] {
        const Config config = load(*common);
        if (const auto usable = try_kafka_settings(kafka_settings(config)); !usable)
            refuse_configuration(*common, usable.error());
        fmt::print("the configuration is good: {}\n", sources_of(*common));
    });
}

}  // namespace epilogue::cli
