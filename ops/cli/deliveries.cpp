#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/ids.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "worker/deliver/operator_verdict.h"

namespace epilogue::cli {
namespace {

const std::vector<Column> columns{{"delivery_id"},
                                  {"callback_id", Kind::number},
                                  {"conversation_id"},
                                  {"turn_key"},
                                  {"sink"},
                                  {"target"},
                                  {"verdict"},
                                  {"state"},
                                  {"attempt", Kind::number},
                                  {"cause"},
                                  {"remote_id"},
                                  {"remote_url"},
                                  {"created_at", Kind::time},
                                  {"next_attempt_at", Kind::time},
                                  {"sent_at", Kind::time}};
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
    values.emplace_back(options.limit);
    print_list(columns,
               expect(store->query(
                   "SELECT " + names_of(columns) + " FROM deliveries " + where + " ORDER BY ordinal LIMIT ?",
                   values)),
               options.common.json);
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

    const auto [retry_command, retry_common, retry_id] =
        with_id("retry", "Try a PARKED delivery again", false);
    retry_command->callback([common = retry_common, id = retry_id] {
        resolve(*common, DeliveryId(*id), OperatorAction::retry, "");
    });

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
