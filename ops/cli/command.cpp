#include "ops/cli/command.h"

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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

/// The file that is read; nullopt: none.
std::optional<std::string> file_of(const Common& common) {
    if (!common.config_file.empty()) return common.config_file;
    if (std::filesystem::exists("epilogue.toml")) return "epilogue.toml";
    return {};
}

/// Sets what --set says; throws Exit(64).
void set_one(Config& config, const std::string& setting) {
    const auto equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    if (equals == std::string::npos) throw Exit{usage, "--set " + key + ": expected SECTION.KEY=VALUE"};
    const std::string value = setting.substr(equals + 1);
    const ConfigSection* section = config_schema().find(key.substr(0, key.find('.')));
    const ConfigKey* row = section == nullptr
                               ? nullptr
                               : section->find(key.substr(std::min(key.size(), section->name.size() + 1)));
    const bool is_place = value.starts_with("env:") || value.starts_with("file:");
    if (row != nullptr && row->kind.resolve && !is_place)
        throw Exit{usage, "--set " + key +
                              ": expected env:NAME or file:PATH: a secret on a command line can be read by "
                              "everybody on the machine"};
    if (const auto set = set_key(config, key, value, process_environment(), config_schema()); !set)
        throw Exit{usage, "--set " + set.error().text};
}

}  // namespace

void add_common(CLI::App& command, Common& common, bool json) {
    add_config(command, common, json);
    command
        .add_option("--set", common.settings,
                    "SECTION.KEY=VALUE, e.g. kafka.brokers=host:9092: wins over file and environment")
        ->allow_extra_args(false);
}

void add_config(CLI::App& command, Common& common, bool json) {
    command.add_option("--config", common.config_file,
                       "Configuration file (default: ./epilogue.toml when it exists)");
    if (json) command.add_flag("--json", common.json, "One JSON document on standard output");
}

std::string sources_of(const Common& common) {
    const auto file = file_of(common);
    const std::string read = file ? std::filesystem::absolute(*file).lexically_normal().string()
                                  : "no file: there is no epilogue.toml here, and --config names none";
    const auto environment = process_environment();
    const auto variables = std::ranges::count_if(
        environment, [](const auto& variable) { return variable.first.starts_with("EPILOGUE_"); });
    return fmt::format("{}; {} EPILOGUE_ variables", read, variables);
}

void refuse_configuration(const Common& common, const Error& error) {
    throw Exit{configuration, error.text + "\nread: " + sources_of(common)};
}

Config load(const Common& common) {
    auto config = load_config(file_of(common), process_environment(), config_schema());
    if (!config) refuse_configuration(common, config.error());
    for (const std::string& setting : common.settings) set_one(*config, setting);
    if (const auto usable = validate_for_use(*config, config_schema()); !usable)
        refuse_configuration(common, usable.error());
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
