#include <CLI/CLI.hpp>

#include "ops/cli/command.h"
#include "ops/cli/output.h"

namespace epilogue::cli {

void add_offsets(CLI::App& program) {
    auto* parent = program.add_subcommand("offsets", "The stored position of each partition");
    parent->require_subcommand(1);
    auto* command = parent->add_subcommand("show", "Show the stored positions of this topic and group");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, true);
    command->callback([common] {
        const Config config = load(*common);
        const auto store = open_store(config);
        const std::vector<Column> columns{{"consumer_group"},
                                          {"topic"},
                                          {"partition_id", Kind::number},
                                          {"next_offset", Kind::number},
                                          {"last_offset", Kind::number},
                                          {"last_record_time", Kind::time},
                                          {"caught_up_at", Kind::time},
                                          {"owner"},
                                          {"generation", Kind::number},
                                          {"cluster_id"}};
        print_list(
            columns,
            expect(store->query(
                "SELECT consumer_group, topic, partition_id, next_offset, last_offset, last_record_time, "
                "caught_up_at, owner, generation, cluster_id FROM partition_progress "
                "WHERE topic=? AND consumer_group=? ORDER BY partition_id",
                {config.kafka.topic, config.kafka.group})),
            common->json);
    });
}

}  // namespace epilogue::cli
