#include "ops/cli/command.h"

#include <filesystem>

#include <CLI/CLI.hpp>

#include "base/io/log.h"
#include "worker/mysql/migrate.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

/// The connection itself failed, as opposed to a statement on it.
bool is_unavailable(const Error& error) {
    constexpr int access_denied = 1045;
    constexpr int no_such_database = 1049;
    constexpr int no_right_to_database = 1044;
    return is_lost_connection(error) || error.code == access_denied || error.code == no_such_database ||
           error.code == no_right_to_database || error.code == 1040;
}

}  // namespace

void add_common(CLI::App& command, Common& common, bool json) {
    command.add_option("--config", common.config_file,
                       "Configuration file (default: ./epilogue.toml when it exists)");
    if (json) command.add_flag("--json", common.json, "One JSON document on standard output");
}

Config load(const Common& common) {
    std::optional<std::string> file;
    if (!common.config_file.empty())
        file = common.config_file;
    else if (std::filesystem::exists("epilogue.toml"))
        file = "epilogue.toml";
    auto config = load_config(file, process_environment(), config_schema());
    if (!config) throw Exit{configuration, config.error().text};
    if (const auto usable = validate_for_use(*config, config_schema()); !usable)
        throw Exit{configuration, usable.error().text};
    start_logging(config->log.level, config->log.format);
    return std::move(*config);
}

Secret secret_at(const std::string& option, const std::string& written) {
    if (!written.starts_with("env:") && !written.starts_with("file:"))
        throw Exit{usage, option +
                              ": expected env:NAME or file:PATH: a secret on a command line can be read by "
                              "everybody on the machine"};
    auto secret = resolve_secret(written, process_environment());
    if (!secret) throw Exit{usage, option + ": " + secret.error().text};
    return std::move(*secret);
}

void expect(const Result<void>& result) {
    if (result) return;
    const Error& error = result.error();
    if (is_unavailable(error)) throw Exit{unavailable, "the database is unavailable: " + error.text};
    throw Exit{error.remedy == Remedy::poison ? usage : failed, error.text};
}

std::unique_ptr<MysqlStore> open_store(const Config& config) {
    const auto session = expect(MysqlSession::open(mysql_settings(config)));
    const MigrationStatus status = expect(migration_status(*session));
    if (status.present < status.needed)
        throw Exit{configuration,
                   "the database's tables are older than this version needs: run epilogue migrate"};
    return std::make_unique<MysqlStore>(mysql_settings(config), StoreObserver{});
}

}  // namespace epilogue::cli
