#include "worker/worker.h"

#include <csignal>

#include <CLI/CLI.hpp>

#include "base/io/log.h"
#include "base/process/crash_recorder.h"
#include "base/stoppable_wait.h"
#include "ops/cli/command.h"
#include "ops/cli/signal_watch.h"
#include "worker/mysql/crash_rows.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

/// Runs in the process that outlives a crash. The database may be away just now: it is tried for a minute.
void record_crash(const MysqlSettings& settings, const UnderWay& what, int signal) {
    constexpr int tries = 60;
    constexpr std::chrono::seconds again{1};
    bool is_counted = false;
    std::string fault;
    for (int i = 0; i < tries && !is_counted; ++i) {
        if (i > 0) wait_or_stop({}, again);
        auto session = MysqlSession::open(settings);
        const auto counted = session ? count_crash(**session, what) : Result<bool>(Failure(session.error()));
        is_counted = counted.has_value();
        fault = counted ? "" : counted.error().text;
    }
    log_error("a worker crashed while it worked at a row", {{"signal", signal},
                                                            {"row", std::string(what.what.view())},
                                                            {"key", std::string(what.key.view())},
                                                            {"more", std::string(what.more.view())},
                                                            {"counted", fault.empty() ? "yes" : fault}});
}

Result<Config> loaded_again(const Common& common) {
    try {
        return load(common);
    } catch (const Exit& wrong) {
        return fatal(wrong.text);
    }
}

}  // namespace

void add_worker(CLI::App& program) {
    auto* command = program.add_subcommand(
        "worker", "Consume, decide, store, summarise and post until SIGTERM or SIGINT");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, false);
    command->callback([common] {
        const Config config = load(*common);
        std::signal(SIGPIPE, SIG_IGN);  // a reader of standard error that has gone is a write that failed
        // It forks: before there is a second thread.
        const process::CrashRecorder recorder([&config](const UnderWay& what, int signal) {
            record_crash(mysql_settings(config), what, signal);
        });
        std::stop_source stop;
        Reloader settings(
            config, [&common] { return loaded_again(*common); }, reloaded);
        std::signal(SIGUSR1, SIG_IGN);
        const SignalWatch watch({SIGTERM, SIGINT, SIGHUP}, [&](int signal) {
            if (signal == SIGHUP) return settings.request();
            if (stop.stop_requested()) std::_Exit(128 + signal);
            log_info("draining; a second signal ends at once");
            stop.request_stop();
        });
        if (const auto ran = run_worker(settings, stop.get_token()); !ran)
            refuse_configuration(*common, ran.error());
    });
}

}  // namespace epilogue::cli
