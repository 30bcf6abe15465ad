#include "worker/mysql/migrate.h"

#include <algorithm>
#include <iterator>

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
    command->add_flag("--status", *status_only, "Only say how far the tables are; 78 when they are behind");
    command->callback([common, status_only] {
        const Config config = load(*common);
        const auto session = expect(MysqlSession::open(mysql_settings(config)));
        // Numbers of steps have gaps: their count has none.
        const auto steps_to = [](int version) {
            return std::ranges::count_if(migrations(),
                                         [&](const Migration& step) { return step.version <= version; });
        };
        if (!*status_only) {
            const auto taken = expect(migrate(*session));
            auto number = std::ssize(migrations()) - std::ssize(taken);
            for (const std::string& step : taken)
                fmt::print("step {} of {} applied: {}\n", ++number, migrations().size(), step);
        }
        const MigrationStatus status = expect(migration_status(*session));
        const bool is_behind = status.present < status.needed;
        fmt::print("tables: {} of {} steps{}\n", steps_to(status.present), migrations().size(),
                   is_behind                        ? "; run epilogue migrate"
                   : status.present > status.needed ? " and newer ones"
                                                    : "");
        if (is_behind) throw Exit{configuration, ""};
    });
}

}  // namespace epilogue::cli
