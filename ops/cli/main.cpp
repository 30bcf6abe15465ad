// The `epilogue` executable: one file a command beside this one.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <curl/curl.h>

#include "base/io/kafka.h"
#include "base/version.h"
#include "ops/cli/command.h"

namespace {

std::string version_text() {
    return std::string("epilogue ") + epilogue::version + "\nlibrdkafka " + epilogue::kafka_version().name +
           "\n" + curl_version() + "\nMySQL Connector/C++ 1.1\n";
}

/// Every command answers --version, as it answers --help.
void add_version(CLI::App& app) {
    app.set_version_flag("--version", version_text);
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) add_version(*command);
}

/// Where only a command is missing, the word that stands in its place and is none: CLI11 does not name it.
/// The first is what was understood until there ("epilogue callbacks"); the second is empty when there is no
/// such word.
std::pair<std::string, std::string> unknown_command(const CLI::App& program) {
    const CLI::App* last = &program;
    std::string understood = program.get_name();
    while (!last->get_subcommands().empty()) {
        last = last->get_subcommands().front();
        understood += " " + last->get_name();
    }
    const auto words =
        last->get_require_subcommand_min() > 0 ? last->remaining() : std::vector<std::string>();
    return {understood, words.empty() ? "" : words.front()};
}

void complain(const CLI::App& program, const CLI::ParseError& wrong) {
    const auto [understood, word] = unknown_command(program);
    if (word.empty())
        program.exit(wrong);
    else
        std::fprintf(stderr, "epilogue: \"%s\" is no command; see %s --help\n", word.c_str(),
                     understood.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    using namespace epilogue::cli;
    CLI::App program{
        "Epilogue tells the people who asked how an agent's conversation ended: once, with a summary, in the "
        "right thread."};
    program.name("epilogue");
    program.require_subcommand(1);
    for (const auto add : {add_migrate, add_keygen, add_topic, add_worker, add_publish, add_relay,
                           add_callbacks, add_import, add_deliveries, add_dead_letters, add_offsets,
                           add_preview, add_view, add_conversations, add_check, add_doctor, add_demo})
        add(program);
    add_version(program);
    try {
        program.parse(argc, argv);
        return done;
    } catch (const CLI::Success& asked) {
        return program.exit(asked);
    } catch (const CLI::ParseError& wrong) {
        complain(program, wrong);
        return usage;
    } catch (const Exit& exit) {
        if (!exit.text.empty()) std::fprintf(stderr, "epilogue: %s\n", exit.text.c_str());
        return exit.code;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "epilogue: internal error: %s\n", error.what());
        return internal;
    }
}
