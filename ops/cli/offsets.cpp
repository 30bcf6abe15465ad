#include <CLI/CLI.hpp>

#include "ops/cli/command.h"
#include "ops/cli/output.h"

namespace epilogue::cli {

void add_offsets(CLI::App& program) {
    auto* parent = program.add_subcommand("offsets", "The stored position of each partition");
    parent->require_subcommand(1);
    auto* command = parent->add_subcommand(
        "show", "Show the stored positions of this topic, newest generation of each partition first");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, true);
    command->callback([common] {
        const Config config = load(*common);
        const auto store = open_store(config);
        const std::vector<Column> columns{{"consumer_group"},
                                          {"topic", Kind::text, Shown::not_in_tables},
                                          {"partition_id", Kind::number},
                                          {"next_offset", Kind::number},
                                          {"last_offset", Kind::number, Shown::not_in_tables},
                                          {"last_record_time", Kind::time},
                                          {"caught_up_at", Kind::time},
                                          {"owner"},
                                          {"generation", Kind::number, Shown::not_in_tables},
                                          {"cluster_id", Kind::text, Shown::not_in_tables},
                                          {"moved_at", Kind::time, Shown::not_in_tables},
                                          {"moved_from", Kind::number, Shown::not_in_tables},
                                          {"moved_why"}};
        print_list(
            columns,
            expect(store->query(
                "SELECT consumer_group, topic, partition_id, next_offset, last_offset, last_record_time, "
                "caught_up_at, owner, generation, cluster_id, moved_at, moved_from, moved_why "
                "FROM partition_progress WHERE topic=? ORDER BY partition_id, generation DESC",
                {config.kafka.topic})),
            common->json);
    });
}

}  // namespace epilogue::cli
