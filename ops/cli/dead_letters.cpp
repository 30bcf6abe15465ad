#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "worker/apply/replay.h"
#include "worker/mysql/columns.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

const std::vector<Column> columns{{"id", Kind::number, Shown::whole},
                                  {"topic"},
                                  {"partition_id", Kind::number},
                                  {"record_offset", Kind::number},
                                  {"record_key"},
                                  {"reason"},
                                  {"length", Kind::number, Shown::not_in_tables},
                                  {"sha256", Kind::text, Shown::not_in_tables},
                                  {"created_at", Kind::time},
                                  {"replayed_at", Kind::time}};
constexpr const char* selected =
    "id, topic, partition_id, record_offset, record_key, reason, length, sha256, created_at, replayed_at";

struct ListOptions {
    Common common;
    std::string reason;
    std::int64_t limit = 100;
    std::int64_t after = 0;
};

void list(const ListOptions& options) {
    const Config config = load(options.common);
    const auto store = open_store(config);
    std::string where = "dead_letters WHERE id>?";
    std::vector<SqlValue> values{options.after};
    if (!options.reason.empty()) {
        where += " AND reason=?";
        values.emplace_back(options.reason);
    }
    const auto rows = [&](std::int64_t limit) {
        auto all = values;
        all.emplace_back(limit);
        return expect(
            store->query(std::string("SELECT ") + selected + " FROM " + where + " ORDER BY id LIMIT ?", all));
    };
    const auto count = [&](std::int64_t limit) { return count_rows(*store, where, values, limit); };
    print_page(columns, {"dead letter", options.limit, rows, count}, options.common.json);
}

void show(const Common& common, std::int64_t id) {
    const Config config = load(common);
    const auto store = open_store(config);
    auto all = columns;
    all.insert(all.begin() + 1, {"cluster_id"});
    all.push_back({"value"});
    const auto rows = expect(
        store->query("SELECT id, cluster_id, topic, partition_id, record_offset, record_key, reason, length, "
                     "sha256, created_at, replayed_at, value FROM dead_letters WHERE id=?",
                     {id}));
    if (rows.empty()) throw Exit{failed, "no dead letter " + std::to_string(id)};
    print_one(all, rows[0], common.json);
}

/// Ids of all letters that were not replayed yet.
std::vector<std::int64_t> waiting(MysqlStore& store) {
    std::vector<std::int64_t> ids;
    for (const SqlRow& row :
         expect(store.query("SELECT id FROM dead_letters WHERE replayed_at IS NULL ORDER BY id")))
        ids.push_back(Columns(row).number());
    return ids;
}

/// Says what became of one letter; true when it is applied now or was before.
bool replay_one(const Config& config, MysqlStore& store, const Planner& planner, std::int64_t id) {
    const auto replayed = replay_dead_letter(store, planner, batch_rules(config), id);
    if (!replayed && replayed.error().remedy != Remedy::poison)
        expect(Result<void>(Failure(replayed.error())));
    const ReplayResult result = replayed ? replayed->result : ReplayResult::unusable;
    switch (result) {
        case ReplayResult::applied:
            fmt::print("{} applied\n", id);
            return true;
        case ReplayResult::repeat:
            fmt::print("{} was applied before\n", id);
            return true;
        case ReplayResult::unknown_id:
            fmt::print(stderr, "epilogue: no dead letter {}\n", id);
            return false;
        case ReplayResult::unusable:
            break;
    }
    fmt::print(stderr, "epilogue: dead letter {} still cannot be used: {}\n", id,
               replayed ? replayed->why : replayed.error().text);
    return false;
}

void replay(const Common& common, std::vector<std::int64_t> ids, bool all) {
    const Config config = load(common);
    const auto store = open_store(config);
    if (ids.empty() == !all) throw Exit{usage, "expected ids of dead letters, or --all"};
    if (all) ids = waiting(*store);
    const Planner planner = expect(planner_for(config, *store));
    bool good = true;
    for (const std::int64_t id : ids) good = replay_one(config, *store, planner, id) && good;
    if (!good) throw Exit{failed, ""};
}

}  // namespace

void add_dead_letters(CLI::App& program) {
    auto* parent = program.add_subcommand("dead-letters", "Records that could not be used, and their replay");
    parent->require_subcommand(1);

    auto* list_command = parent->add_subcommand("list", "List dead letters, oldest first");
    auto options = std::make_shared<ListOptions>();
    add_common(*list_command, options->common, true);
    list_command->add_option("--reason", options->reason, "Only those with this reason");
    list_command->add_option("--limit", options->limit, "At most so many")->check(CLI::Range(1, 1'000'000));
    list_command->add_option("--after", options->after, "Only ids above this one");
    list_command->callback([options] { list(*options); });

    auto* show_command =
        parent->add_subcommand("show", "Show one dead letter with the first 64 KiB of its value");
    auto show_common = std::make_shared<Common>();
    auto show_id = std::make_shared<std::int64_t>(0);
    add_common(*show_command, *show_common, true);
    show_command->add_option("ID", *show_id, "Dead letter id")->required();
    show_command->callback([=] { show(*show_common, *show_id); });

    auto* replay_command =
        parent->add_subcommand("replay", "Apply dead letters to the state; doing it twice changes nothing");
    auto replay_common = std::make_shared<Common>();
    auto ids = std::make_shared<std::vector<std::int64_t>>();
    auto all = std::make_shared<bool>(false);
    add_common(*replay_command, *replay_common, false);
    replay_command->add_option("ID", *ids, "Dead letter ids");
    replay_command->add_flag("--all", *all, "All that were not replayed yet");
    replay_command->callback([=] { replay(*replay_common, *ids, *all); });
}

}  // namespace epilogue::cli
