#include "ops/relay/relay.h"

#include <csignal>

#include <CLI/CLI.hpp>

#include "base/io/log.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "ops/cli/relay_once.h"
#include "ops/cli/signal_watch.h"

namespace epilogue::cli {
namespace {

void add_status(CLI::App& parent) {
    auto* command = parent.add_subcommand(
        "status", "Show the conversations that relays follow, those with trouble and those far behind first");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, true);
    command->callback([common] {
        const auto store = open_store(load(*common));
        const std::vector<Column> columns{{"conversation_id", Kind::text, Shown::whole},
                                          {"next_index", Kind::number},
                                          {"behind", Kind::number},
                                          {"behind_since", Kind::time},
                                          {"moved_at", Kind::time},
                                          {"last_error"},
                                          {"last_error_at", Kind::time, Shown::not_in_tables},
                                          {"server", Kind::text, Shown::not_in_tables},
                                          {"last_event_id", Kind::text, Shown::not_in_tables},
                                          {"owner", Kind::text, Shown::not_in_tables},
                                          {"lease_until", Kind::time, Shown::not_in_tables},
                                          {"added_at", Kind::time, Shown::not_in_tables}};
        print_list(columns,
                   expect(store->query(
                       "SELECT conversation_id, next_index, behind, behind_since, moved_at, last_error, "
                       "last_error_at, server, last_event_id, owner, lease_until, added_at "
                       "FROM relay_positions WHERE unwanted_since IS NULL "
                       "ORDER BY last_error IS NULL, behind DESC, conversation_id",
                       {})),
                   common->json);
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
        std::stop_source stop;
        const SignalWatch watch({SIGTERM, SIGINT}, [&](int signal) {
            if (stop.stop_requested()) std::_Exit(128 + signal);
            log_info("draining; a second signal ends at once");
            stop.request_stop();
        });
        if (const auto ran = run_relay(config, stop.get_token()); !ran)
            refuse_configuration(*common, ran.error());
    });
}

}  // namespace epilogue::cli
