#include <fstream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/ids.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "worker/registration.h"

namespace epilogue::cli {
namespace {

const std::vector<Column> columns{{"id", Kind::number},
                                  {"conversation_id"},
                                  {"status"},
                                  {"phase"},
                                  {"processor_type"},
                                  {"reason"},
                                  {"turn_key"},
                                  {"options", Kind::json},
                                  {"adopted_at", Kind::time},
                                  {"created_at", Kind::time},
                                  {"updated_at", Kind::time}};
constexpr const char* selected =
    "c.id, COALESCE(p.conversation_id, c.conversation_id), c.status, p.phase, c.processor_type, p.reason, "
    "p.turn_key, p.options, "
    "p.adopted_at, c.created_at, c.updated_at";
constexpr const char* tables =
    " FROM conversation_callbacks c LEFT JOIN callback_progress p ON p.callback_id=c.id ";

struct AddOptions {
    Common common;
    std::string conversation;
    std::string processor;
    std::string json;
    std::string json_file;
    std::string mode = "once";
    std::string triggers;
    std::string from = "last";
};

std::string processor_json(const AddOptions& options) {
    if (options.json_file.empty()) return options.json.empty() ? "{}" : options.json;
    std::ifstream file(options.json_file);
    if (!file) throw Exit{usage, "--processor-json-file " + options.json_file + ": cannot be read"};
    return {std::istreambuf_iterator<char>(file), {}};
}

void add(const AddOptions& options) {
    const Config config = load(options.common);
    const auto store = open_store(config);
    RegistrationRequest request;
    request.conversation_id = options.conversation;
    request.processor_type = options.processor;
    request.processor_json = processor_json(options);
    request.options = expect(parse_options(options.mode, options.triggers));
    if (options.from != "last" && options.from != "next")
        throw Exit{usage, "--from: expected last or next, got \"" + options.from + "\""};
    request.inactivity = config.worker.inactivity_timeout;
    request.from_last = options.from == "last";
    const Registered registered = expect(register_callback(*store, make_planner(config, *store), request));
    if (options.common.json)
        fmt::print("{{\"id\": {}}}\n", registered.callback_id);
    else
        fmt::print("{}\n", registered.callback_id);
}

struct ListOptions {
    Common common;
    std::string status;
    std::string conversation;
    bool dormant = false;
    std::int64_t limit = 100;
    std::int64_t after = 0;
};

void list(const ListOptions& options) {
    const Config config = load(options.common);
    const auto store = open_store(config);
    std::string where = "WHERE c.id>?";
    std::vector<SqlValue> values{options.after};
    if (!options.status.empty()) {
        where += " AND c.status=?";
        values.emplace_back(options.status);
    }
    if (!options.conversation.empty()) {
        where += " AND (p.conversation_id=? OR c.conversation_id=?)";
        values.insert(values.end(), {normalise_conversation_id(options.conversation), options.conversation});
    }
    if (options.dormant) where += " AND p.phase='dormant'";
    values.emplace_back(options.limit);
    print_list(columns,
               expect(store->query(
                   std::string("SELECT ") + selected + tables + where + " ORDER BY c.id LIMIT ?", values)),
               options.common.json);
}

void show(const Common& common, std::int64_t id) {
    const Config config = load(common);
    const auto store = open_store(config);
    auto all = columns;
    all.push_back({"processor_json", Kind::json});
    const auto rows = expect(store->query(
        std::string("SELECT ") + selected + ", c.processor_json" + tables + "WHERE c.id=?", {id}));
    if (rows.empty()) throw Exit{failed, "no callback " + std::to_string(id)};
    print_one(all, rows[0], common.json);
}

using StepCallback = Result<bool> (*)(const Config&, MysqlStore&, std::int64_t);

Result<bool> cancel(const Config&, MysqlStore& store, std::int64_t id) {
    return cancel_callback(store, id);
}

Result<bool> wake(const Config& config, MysqlStore& store, std::int64_t id) {
    return wake_callback(store, make_planner(config, store), id, config.worker.inactivity_timeout);
}

void step_each(const Common& common, const std::vector<std::int64_t>& ids, StepCallback step,
               const char* done_text) {
    const Config config = load(common);
    const auto store = open_store(config);
    bool all_known = true;
    for (const std::int64_t id : ids) {
        const bool known = expect(step(config, *store, id));
        if (known)
            fmt::print("{} {}\n", done_text, id);
        else
            fmt::print(stderr, "epilogue: no callback {}\n", id);
        all_known = all_known && known;
    }
    if (!all_known) throw Exit{failed, ""};
}

void add_step(CLI::App& parent, const char* name, const char* help, StepCallback step, const char* done_text,
              bool several) {
    auto* command = parent.add_subcommand(name, help);
    auto common = std::make_shared<Common>();
    auto ids = std::make_shared<std::vector<std::int64_t>>();
    add_common(*command, *common, false);
    auto* option = command->add_option("ID", *ids, "Callback id")->required();
    if (!several) option->expected(1);
    command->callback([=] { step_each(*common, *ids, step, done_text); });
}

}  // namespace

void add_callbacks(CLI::App& program) {
    auto* parent = program.add_subcommand("callbacks", "Who is told about which conversation");
    parent->require_subcommand(1);

    auto* add_command = parent->add_subcommand("add", "Register a callback and print its id");
    auto options = std::make_shared<AddOptions>();
    add_common(*add_command, options->common, true);
    add_command->add_option("--conversation", options->conversation, "Conversation id")->required();
    add_command
        ->add_option("--processor", options->processor,
                     "slack, github, gitlab, log, or an upstream class name")
        ->required();
    auto* json = add_command->add_option("--processor-json", options->json, "Where to: the processor's JSON");
    add_command->add_option("--processor-json-file", options->json_file, "The same, read from a file")
        ->excludes(json);
    add_command->add_option("--mode", options->mode, "once, until_done or every_turn");
    add_command->add_option("--triggers", options->triggers,
                            "Verdicts to report, separated by commas (default: all)");
    add_command->add_option("--from", options->from,
                            "last: report the last end too when no turn is open; next: only later ones");
    add_command->callback([options] { add(*options); });

    auto* list_command = parent->add_subcommand("list", "List callbacks");
    auto list_options = std::make_shared<ListOptions>();
    add_common(*list_command, list_options->common, true);
    list_command->add_option("--status", list_options->status, "ACTIVE, COMPLETED or ERROR")
        ->check(CLI::IsMember({"ACTIVE", "COMPLETED", "ERROR"}));
    list_command->add_option("--conversation", list_options->conversation, "Conversation id");
    list_command->add_flag("--dormant", list_options->dormant, "Only those that sleep until they are woken");
    list_command->add_option("--limit", list_options->limit, "At most so many")
        ->check(CLI::Range(1, 1'000'000));
    list_command->add_option("--after", list_options->after, "Only ids above this one");
    list_command->callback([list_options] { list(*list_options); });

    auto* show_command = parent->add_subcommand("show", "Show one callback");
    auto show_common = std::make_shared<Common>();
    auto show_id = std::make_shared<std::int64_t>(0);
    add_common(*show_command, *show_common, true);
    show_command->add_option("ID", *show_id, "Callback id")->required();
    show_command->callback([=] { show(*show_common, *show_id); });

    add_step(*parent, "cancel", "Stop a callback; a post that is under way is finished", cancel, "cancelled",
             false);
    add_step(*parent, "wake", "Wake dormant callbacks", wake, "woken", true);
}

}  // namespace epilogue::cli
