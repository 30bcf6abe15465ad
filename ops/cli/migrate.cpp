#include "worker/mysql/migrate.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "ops/cli/command.h"
#include "worker/settings.h"

namespace epilogue::cli {

void add_migrate(CLI::App& program) {
    auto* command =
        program.add_subcommand("migrate", "Create or upgrade the tables; safe to run any number of times");
    auto common = std::make_shared<Common>();
    auto status_only = std::make_shared<bool>(false);
    add_common(*command, *common, false);
    command->add_flag("--status", *status_only, "Only say how far the tables are");
    command->callback([common, status_only] {
        const Config config = load(*common);
        const auto session = expect(MysqlSession::open(mysql_settings(config)));
        if (!*status_only)
            for (const std::string& step : expect(migrate(*session))) fmt::print("applied {}\n", step);
        const MigrationStatus status = expect(migration_status(*session));
        fmt::print("tables: version {} of {}{}\n", status.present, status.needed,
                   status.present < status.needed ? "; run epilogue migrate" : "");
    });
}

}  // namespace epilogue::cli
