#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/ids.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "sinks/port/descriptor.h"
#include "sinks/registry.h"
#include "worker/core/delivery.h"
#include "worker/deliver/operator_verdict.h"

namespace epilogue::cli {
namespace {

const std::vector<Column> columns{{"delivery_id", Kind::text, Shown::whole},
                                  {"callback_id", Kind::number, Shown::not_in_tables},
                                  {"conversation_id"},
                                  {"turn_key", Kind::text, Shown::not_in_tables},
                                  {"sink", Kind::text, Shown::not_in_tables},  // the target names it
                                  {"target"},
                                  {"verdict", Kind::text, Shown::not_in_tables},
                                  {"state", Kind::text, Shown::whole},
                                  {"attempt", Kind::number, Shown::not_in_tables},
                                  {"cause"},
                                  {"remote_id", Kind::text, Shown::not_in_tables},
                                  {"remote_url", Kind::text, Shown::not_in_tables},
                                  {"created_at", Kind::time},
                                  {"next_attempt_at", Kind::time, Shown::not_in_tables},
                                  {"sent_at", Kind::time, Shown::not_in_tables}};
const std::vector<Column> details{{"body"},
                                  {"body_sha256"},
                                  {"owner"},
                                  {"generation", Kind::number},
                                  {"lease_until", Kind::time},
                                  {"intent_at", Kind::time},
                                  {"heal_due_at", Kind::time},
                                  {"source_partition", Kind::number},
                                  {"source_offset", Kind::number}};

std::string names_of(const std::vector<Column>& wanted) {
    std::string names;
    for (const Column& column : wanted) names += (names.empty() ? "" : ", ") + column.name;
    return names;
}

struct ListOptions {
    Common common;
    std::string state;
    std::string conversation;
    std::int64_t callback = 0;
    std::int64_t limit = 100;
    std::string after;
};

void list(const ListOptions& options) {
    const Config config = load(options.common);
    const auto store = open_store(config);
    std::string where = "WHERE 1=1";
    std::vector<SqlValue> values;
    if (!options.state.empty()) {
        where += " AND state=?";
        values.emplace_back(options.state);
    }
    if (!options.conversation.empty()) {
        where += " AND conversation_id=?";
        values.emplace_back(normalise_conversation_id(options.conversation));
    }
    if (options.callback > 0) {
        where += " AND callback_id=?";
        values.emplace_back(options.callback);
    }
    if (!options.after.empty()) {
        where += " AND ordinal>(SELECT ordinal FROM deliveries WHERE delivery_id=?)";
        values.emplace_back(options.after);
    }
    const auto rows = [&](std::int64_t limit) {
        auto all = values;
        all.emplace_back(limit);
        return expect(store->query(
            "SELECT " + names_of(columns) + " FROM deliveries " + where + " ORDER BY ordinal LIMIT ?", all));
    };
    const auto count = [&](std::int64_t limit) {
        return count_rows(*store, "deliveries " + where, values, limit);
    };
    print_page(columns, {"delivery", options.limit, rows, count}, options.common.json);
}

void show(const Common& common, const DeliveryId& id) {
    const Config config = load(common);
    const auto store = open_store(config);
    auto all = columns;
    all.insert(all.end(), details.begin(), details.end());
    const auto rows =
        expect(store->query("SELECT " + names_of(all) + " FROM deliveries WHERE delivery_id=?", {id}));
    if (rows.empty()) throw Exit{failed, "no delivery " + id};
    print_one(all, rows[0], common.json);
}

void resolve(const Common& common, const DeliveryId& id, OperatorAction action, const std::string& url) {
    const Config config = load(common);
    const auto store = open_store(config);
    switch (expect(resolve_delivery(*store, id, action, url))) {
        case OperatorAnswer::done:
            fmt::print("{}\n", id);
            return;
        case OperatorAnswer::no_such_delivery:
            throw Exit{failed, "no delivery " + id};
        case OperatorAnswer::not_now:
            throw Exit{failed, "delivery " + id +
                                   " is not waiting for an operator (see epilogue deliveries show " + id +
                                   ")"};
    }
}

/// What of the PARKED deliveries is tried again.
struct RetryOptions {
    Common common;
    std::string id;
    bool all = false;
    std::string sink;
    std::string why;  ///< the class of the cause, as epilogue_parked{why} has it, or the cause itself
};

void retry_all(const RetryOptions& options) {
    const Config config = load(options.common);
    const auto store = open_store(config);
    std::string where = "WHERE state='PARKED'";
    std::vector<SqlValue> values;
    if (!options.sink.empty()) {
        where += " AND sink=?";
        values.emplace_back(options.sink);
    }
    const std::string why = "SUBSTRING_INDEX(COALESCE(cause, ''), ':', 1)";
    if (options.why == "unusable") {
        where += " AND " + why + " NOT IN (?,?)";
        values.insert(values.end(), {std::string(cause_credential), std::string(cause_cannot_look_up)});
    } else if (!options.why.empty()) {
        where += " AND (" + why + "=? OR cause=?)";
        values.insert(values.end(), {options.why, options.why});
    }
    std::int64_t count = 0;
    for (const SqlRow& row :
         expect(store->query("SELECT delivery_id FROM deliveries " + where + " ORDER BY ordinal", values))) {
        const DeliveryId id(row.at(0).value_or(""));
        // One that has left PARKED meanwhile needs no operator.
        if (expect(resolve_delivery(*store, id, OperatorAction::retry, "")) != OperatorAnswer::done) continue;
        fmt::print("{}\n", id);
        ++count;
    }
    fmt::print(stderr, "epilogue: {} tried again\n", counted(count, "delivery"));
}

void retry(const RetryOptions& options) {
    if (options.id.empty() == !options.all) throw Exit{usage, "expected the ID of a delivery, or --all"};
    if (options.all) return retry_all(options);
    resolve(options.common, DeliveryId(options.id), OperatorAction::retry, "");
}

void add_retry(CLI::App& parent) {
    auto* command = parent.add_subcommand("retry", "Try PARKED deliveries again; print the id of each");
    auto options = std::make_shared<RetryOptions>();
    add_common(*command, options->common, false);
    command->add_option("ID", options->id, "Delivery id");
    auto* all = command->add_flag("--all", options->all, "All that are PARKED, the oldest first");
    std::vector<std::string> sinks;
    for (const SinkDescriptor* sink : sink_descriptors()) sinks.emplace_back(sink->name);
    command->add_option("--sink", options->sink, "Of --all, those of one sink")
        ->needs(all)
        ->check(CLI::IsMember(sinks));
    command
        ->add_option("--why", options->why,
                     "Of --all, those with this cause: credential, cannot_look_up, unusable (any other), or "
                     "its whole text")
        ->needs(all);
    command->callback([options] { retry(*options); });
}

}  // namespace

void add_deliveries(CLI::App& program) {
    auto* parent = program.add_subcommand("deliveries", "The ledger of posts");
    parent->require_subcommand(1);

    auto* list_command = parent->add_subcommand("list", "List deliveries, oldest first");
    auto options = std::make_shared<ListOptions>();
    add_common(*list_command, options->common, true);
    list_command
        ->add_option("--state", options->state, "PLANNED, SENDING, UNKNOWN, RETRY, SENT, FAILED or PARKED")
        ->check(CLI::IsMember({"PLANNED", "SENDING", "UNKNOWN", "RETRY", "SENT", "FAILED", "PARKED"}));
    list_command->add_option("--conversation", options->conversation, "Conversation id");
    list_command->add_option("--callback", options->callback, "Callback id");
    list_command->add_option("--limit", options->limit, "At most so many")->check(CLI::Range(1, 1'000'000));
    list_command->add_option("--after", options->after, "Only those that became owed after this delivery");
    list_command->callback([options] { list(*options); });

    const auto with_id = [&](const char* name, const char* help, bool json) {
        auto* command = parent->add_subcommand(name, help);
        auto common = std::make_shared<Common>();
        auto id = std::make_shared<std::string>();
        add_common(*command, *common, json);
        command->add_option("ID", *id, "Delivery id")->required();
        return std::tuple(command, common, id);
    };
    const auto [show_command, show_common, show_id] =
        with_id("show", "Show one delivery with its body", true);
    show_command->callback([common = show_common, id = show_id] { show(*common, DeliveryId(*id)); });

    add_retry(*parent);

    const auto [resolve_command, resolve_common, resolve_id] =
        with_id("resolve", "Say what became of an UNKNOWN or PARKED delivery", false);
    auto url = std::make_shared<std::string>();
    auto not_sent = std::make_shared<bool>(false);
    auto* sent = resolve_command->add_option("--sent", *url, "It is visible there");
    resolve_command->add_flag("--not-sent", *not_sent, "It is not visible: it is posted again")
        ->excludes(sent);
    resolve_command->callback([common = resolve_common, id = resolve_id, url, not_sent] {
        if (url->empty() && !*not_sent) throw Exit{usage, "expected --sent URL or --not-sent"};
        resolve(*common, DeliveryId(*id), *not_sent ? OperatorAction::not_sent : OperatorAction::sent, *url);
    });
}

}  // namespace epilogue::cli
