// What every command shares: the configuration, the exit codes of contract §1, and how an error is said.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/result.h"
#include "worker/mysql/mysql_store.h"

namespace CLI {
class App;
}

namespace epilogue::cli {

enum ExitCode { done = 0, failed = 1, usage = 64, unavailable = 69, internal = 70, configuration = 78 };

/// A command ends early with this: the text was for standard error, the code is the process's.
struct Exit {
    int code = failed;
    std::string text;  ///< empty: everything was said already
};

/// The options that all commands have.
struct Common {
    std::string config_file;                 ///< --config; empty: ./epilogue.toml when it exists
    bool json = false;                       ///< --json
    std::vector<std::string> settings = {};  ///< --set: "section.key=value", each
};

/// Adds --config and --set (and, with `json`, --json) to a command.
void add_common(CLI::App& command, Common& common, bool json);
/// The same without --set, for commands that have a --set of their own.
void add_config(CLI::App& command, Common& common, bool json);

/// The configuration, checked for use; throws Exit(78), which names everything that is wrong and what was
/// read.
Config load(const Common& common);

/// Where the configuration comes from, for people: the file that is read, if any, and how many variables.
std::string sources_of(const Common& common);

/// Throws Exit(78) for an error of the configuration that shows only in use, as load() does.
[[noreturn]] void refuse_configuration(const Common& common, const Error& error);

/// The secret that is where `written` says, which the user gave as `option`; throws Exit(64). One that stands
/// on the command line itself is refused.
Secret secret_at(const std::string& option, const std::string& written);

/// The value, or throws Exit: 69 when the database or the broker cannot be reached, 64 for poison, else 1.
void expect(const Result<void>& result);
template <class T>
T expect(Result<T> result) {
    if (!result) expect(Result<void>(Failure(result.error())));
    return std::move(*result);
}

/// A store on tables that this version can work with; throws Exit 69, or 78 ("run epilogue migrate").
std::unique_ptr<MysqlStore> open_store(const Config& config);

// One function a command: adds itself to the program.
void add_migrate(CLI::App& program);
void add_keygen(CLI::App& program);
void add_worker(CLI::App& program);
void add_topic(CLI::App& program);
void add_publish(CLI::App& program);
void add_relay(CLI::App& program);
void add_callbacks(CLI::App& program);
void add_deliveries(CLI::App& program);
void add_dead_letters(CLI::App& program);
void add_import(CLI::App& program);
void add_offsets(CLI::App& program);
void add_preview(CLI::App& program);
void add_view(CLI::App& program);
void add_conversations(CLI::App& program);
void add_check(CLI::App& program);
void add_doctor(CLI::App& program);
void add_demo(CLI::App& program);

}  // namespace epilogue::cli
