#include "ops/relay/relay.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/relay/app_server/app_server.h"
#include "agent/relay/door.h"
#include "ops/cli/command.h"
#include "ops/cli/drain_signals.h"
#include "ops/cli/output.h"
#include "ops/cli/relay_once.h"

namespace epilogue::cli {
namespace {

/// Of the conversations that are followed, and of app servers: the same in JSON, in tables what each has.
std::vector<Column> status_columns(relay::Door door) {
    const bool is_app_server = door == relay::Door::app_server;
    const auto of_app_servers = [&](Shown shown) { return is_app_server ? shown : Shown::not_in_tables; };
    const auto of_conversations = [&](Shown shown) { return is_app_server ? Shown::not_in_tables : shown; };
    return {{"door", Kind::text, Shown::not_in_tables},
            {"conversation_id", Kind::text, of_conversations(Shown::whole)},
            {"server", Kind::text, of_app_servers(Shown::cut)},
            {"next_index", Kind::number, of_conversations(Shown::cut)},
            {"floor", Kind::text, of_app_servers(Shown::cut)},
            {"behind", Kind::number},
            {"behind_since", Kind::time},
            {"moved_at", Kind::time, of_conversations(Shown::cut)},
            {"looked_at", Kind::time, of_app_servers(Shown::cut)},
            {"last_error"},
            {"last_error_at", Kind::time, Shown::not_in_tables},
            {"last_event_id", Kind::text, Shown::not_in_tables},
            {"owner", Kind::text, Shown::not_in_tables},
            {"lease_until", Kind::time, Shown::not_in_tables},
            {"added_at", Kind::time, Shown::not_in_tables}};
}

/// Those that the configuration names, and those that a relay reads by another one.
std::vector<SqlRow> app_servers(MysqlStore& store, const Config& config) {
    std::set<std::string> configured;
    for (const auto& each : config.relay.app_servers)
        configured.insert(relay::AppServer({each.url, each.key, each.org}).name());
    constexpr std::size_t server = 2;
    auto rows = expect(store.query(
        "SELECT 'app_server', NULL, server, NULL, floor, behind, behind_since, NULL, looked_at, last_error, "
        "last_error_at, NULL, owner, lease_until, NULL, lease_until>UTC_TIMESTAMP(6) FROM relay_app_servers "
        "ORDER BY last_error IS NULL, behind DESC, server",
        {}));
    std::erase_if(rows, [&](const SqlRow& row) {
        return row.back() == "0" && !configured.contains(row.at(server).value_or(""));
    });
    return rows;
}

std::vector<SqlRow> followed_conversations(MysqlStore& store) {
    return expect(store.query(
        "SELECT 'follower', conversation_id, server, next_index, NULL, behind, behind_since, moved_at, NULL, "
        "last_error, last_error_at, last_event_id, owner, lease_until, added_at FROM relay_positions WHERE "
        "unwanted_since IS NULL ORDER BY last_error IS NULL, behind DESC, conversation_id",
        {}));
}

void add_status(CLI::App& parent) {
    auto* command = parent.add_subcommand(
        "status",
        "Show the app servers that relays read and the conversations that they follow, those with trouble "
        "and those far behind first");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, true);
    command->callback([common] {
        const Config config = load(*common);
        const auto store = open_store(config);
        auto servers = app_servers(*store, config);
        auto conversations = followed_conversations(*store);
        if (common->json) {
            std::ranges::move(conversations, std::back_inserter(servers));
            return print_list(status_columns(relay::Door::follower), servers, true);
        }
        if (!servers.empty()) {
            print_list(status_columns(relay::Door::app_server), servers, false);
            fmt::print("\n");
        }
        print_list(status_columns(relay::Door::follower), conversations, false);
    });
}

}  // namespace

void add_relay(CLI::App& program) {
    auto* command = program.add_subcommand(
        "relay", "Bring the events of agent servers into the topic until SIGTERM or SIGINT");
    auto common = std::make_shared<Common>();
    auto once = std::make_shared<RelayOnce>();
    add_common(*command, *common, false);
    auto* once_option =
        command->add_option("--once", once->from,
                            "Bring all of this into the topic and end: a file or folder of persisted events, "
                            "or the URL of an agent "
                            "server, with /api/conversations/ID behind it for one conversation");
    command->add_option("--key", once->key, "The session key of that server: env:NAME or file:PATH")
        ->needs(once_option);
    add_status(*command);
    command->callback([common, once, command] {
        if (!command->get_subcommands().empty()) return;
        const Config config = load(*common);
        if (!once->from.empty()) return relay_once(config, *once, *common);
        std::signal(SIGPIPE, SIG_IGN);  // a client that has gone is a write that failed
        const DrainSignals signals("relay");
        if (const auto ran = run_relay(config, signals.told_to_end()); !ran)
            refuse_configuration(*common, ran.error());
    });
}

}  // namespace epilogue::cli
