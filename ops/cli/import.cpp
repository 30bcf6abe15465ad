#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/backoff.h"
#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "ops/cli/command.h"
#include "ops/cli/drain_signals.h"
#include "ops/importer/importer.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

using namespace std::chrono_literals;

struct ImportOptions {
    Common common;
    std::string from;
    std::string password;  ///< --password: where it is
    std::string source = "openhands";
    bool follow = false;
    bool dry_run = false;
};

PostgresAddress address_in(const ImportOptions& options) {
    const bool is_place = options.from.starts_with("env:") || options.from.starts_with("file:");
    auto address =
        PostgresAddress::parse(is_place ? secret_at("--from", options.from).reveal() : options.from);
    if (!address) throw Exit{configuration, "--from: " + address.error().text};
    if (!options.password.empty()) address->password = secret_at("--password", options.password);
    return std::move(*address);
}

UpstreamDatabase connected(const PostgresAddress& address) {
    auto upstream = UpstreamDatabase::open(address);
    if (upstream) return std::move(*upstream);
    const Error& error = upstream.error();
    throw Exit{error.remedy == Remedy::fatal ? configuration : unavailable, "--from: " + error.text};
}

/// Says on standard error how far a pass is, when it takes long.
class ProgressLine {
  public:
    void operator()(const ImportProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        if (now - said_ < 2s) return;
        said_ = now;
        fmt::print(stderr, "epilogue: {} of {} rows\n", progress.done, progress.rows);
    }

  private:
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

void print(const ImportReport& report, const ImportOptions& options) {
    fmt::print("{}", options.common.json ? to_json(report, options.source, options.dry_run) + "\n"
                                         : for_people(report, options.dry_run));
    std::fflush(stdout);
}

void import_once(const ImportOptions& options, const PostgresAddress& address, MysqlStore& store) {
    UpstreamDatabase upstream = connected(address);
    Importer importer(store, options.source, options.dry_run);
    const auto report = importer.pass(upstream, {}, ProgressLine());
    if (!report && upstream.is_lost()) throw Exit{unavailable, report.error().text};
    if (!report) expect(Result<void>(Failure(report.error())));
    print(*report, options);
    if (!report->unreadable.empty()) throw Exit{failed, ""};
}

/// Looks for what is new until it is stopped. A database that goes away is waited for.
class Follower {
  public:
    Follower(const ImportOptions& options, const PostgresAddress& address, MysqlStore& store)
        : options_(options),
          address_(address),
          upstream_(connected(address)),
          importer_(store, options.source, false) {}

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const auto begun = std::chrono::steady_clock::now();
            const auto report = pass(stop);
            if (!report && report.error().remedy == Remedy::fatal) throw Exit{failed, report.error().text};
            wait_or_stop(stop, report ? pause_after(begun) : backoff(report.error()));
        }
    }

  private:
    Result<ImportReport> pass(const std::stop_token& stop) {
        if (!upstream_) {
            TRY(upstream_, UpstreamDatabase::open(address_));
        }
        auto report = importer_.pass(*upstream_, stop, ProgressLine());
        if (!report) return report;
        failures_ = 0;
        if (is_first_ || report->has_news()) print(*report, options_);
        is_first_ = false;
        return report;
    }

    /// Most of the time OpenHands' database has peace from us.
    static std::chrono::nanoseconds pause_after(std::chrono::steady_clock::time_point begun) {
        return std::max<std::chrono::nanoseconds>(2s, 10 * (std::chrono::steady_clock::now() - begun));
    }

    std::chrono::nanoseconds backoff(const Error& error) {
        complaints_.warn("import", "rows of OpenHands wait to be imported", {{"why", error.text}});
        upstream_.reset();  // the pass has left a transaction open
        return full_jitter(++failures_, std::uniform_real_distribution<double>()(random_));
    }

    const ImportOptions& options_;
    const PostgresAddress& address_;
    std::optional<UpstreamDatabase> upstream_;
    Importer importer_;
    RateLimitedLog complaints_;
    std::mt19937 random_{std::random_device{}()};
    int failures_ = 0;
    bool is_first_ = true;
};

void follow(const ImportOptions& options, const PostgresAddress& address, MysqlStore& store) {
    const DrainSignals signals("import");
    Follower(options, address, store).run(signals.told_to_end());
}

void import_rows(const ImportOptions& options) {
    const Config config = load(options.common);
    const PostgresAddress address = address_in(options);
    const auto store = open_store(config);
    if (options.follow)
        follow(options, address, *store);
    else
        import_once(options, address, *store);
}

}  // namespace

void add_import(CLI::App& program) {
    auto* command = program.add_subcommand(
        "import", "Take over the callbacks in OpenHands' own PostgreSQL, which is only read");
    auto options = std::make_shared<ImportOptions>();
    add_common(*command, options->common, true);
    command
        ->add_option("--from", options->from,
                     "postgres://USER@HOST:PORT/DATABASE?sslmode=…, or env:NAME or file:PATH, which have it")
        ->required();
    command->add_option("--password", options->password, "Its password: env:NAME or file:PATH");
    command
        ->add_option("--source", options->source,
                     "A name for that database (default: openhands): its rows are recognised by it")
        ->check([](const std::string& name) {
            return name.empty() || name.size() > 64 ? "expected 1 to 64 bytes" : std::string();
        });
    auto* follow_flag = command->add_flag("--follow", options->follow,
                                          "Go on looking for new and changed rows until SIGTERM");
    command->add_flag("--dry-run", options->dry_run, "Only say what would be done")->excludes(follow_flag);
    command->callback([options] { import_rows(*options); });
}

}  // namespace epilogue::cli
