#include "worker/core/digest.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/redacted.h"
#include "base/text.h"

namespace epilogue {
namespace {

std::string truncated(std::string_view text) {
    return redacted_prefix(trimmed(text), max_digest_text_bytes);
}

bool has_room(Digest& digest, std::size_t size) {
    if (size < max_digest_entries) return true;
    digest.cut = true;
    return false;
}

void add_once(Digest& digest, std::vector<std::string>& list, std::string entry) {
    if (entry.empty() || std::find(list.begin(), list.end(), entry) != list.end()) return;
    if (has_room(digest, list.size())) list.push_back(std::move(entry));
}

template <class Entry>
Entry* with_id(std::vector<Entry>& entries, const std::string& id) {
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.id == id; });
    return found == entries.end() ? nullptr : &*found;
}

struct AddWork {
    Digest& digest;

    void operator()(const CommandStarted& started) const {
        if (with_id(digest.commands, started.id) || !has_room(digest, digest.commands.size())) return;
        digest.commands.push_back(
            {started.id, truncated(started.command), runs_tests(started.command), std::nullopt});
    }
    void operator()(const CommandEnded& ended) const {
        if (auto* command = with_id(digest.commands, ended.id)) command->exit_code = ended.exit_code;
    }
    void operator()(const FileChanged& changed) const {
        add_once(digest, digest.files, truncated(changed.path));
    }
    void operator()(const RequestMade& made) const { add_once(digest, digest.links, truncated(made.url)); }
    void operator()(const ErrorSeen& error) const {
        if (with_id(digest.errors, error.id) || !has_room(digest, digest.errors.size())) return;
        digest.errors.push_back({error.id, truncated(error.text)});
    }
};

/// What remains of one command of a chain once leading assignments, wrappers and interpreters are taken off.
std::string_view bare_command(std::string_view command) {
    constexpr std::array<std::string_view, 10> wrappers{"env",        "sudo",       "time", "exec",
                                                        "uv run",     "poetry run", "npx",  "python -m",
                                                        "python3 -m", "bundle exec"};
    command = trimmed(command);
    while (true) {
        const auto word = command.substr(0, command.find(' '));
        if (word.size() < command.size() && word.find('=') != std::string_view::npos) {
            command = trimmed(command.substr(word.size()));
            continue;
        }
        const auto* wrapper = std::find_if(wrappers.begin(), wrappers.end(), [&](std::string_view w) {
            return command.starts_with(w) && command.size() > w.size() && command[w.size()] == ' ';
        });
        if (wrapper == wrappers.end()) return command;
        command = trimmed(command.substr(wrapper->size()));
    }
}

}  // namespace

void add(Digest& digest, const Work& work) {
    std::visit(AddWork{digest}, work);
}

bool runs_tests(const std::string& command) {
    constexpr std::array<std::string_view, 24> runners{
        "pytest",      "py.test",        "tox",        "nox",           "unittest", "ctest",
        "go test",     "gotestsum",      "cargo test", "cargo nextest", "npm test", "npm run test",
        "yarn test",   "pnpm test",      "jest",       "vitest",        "mvn test", "mvn verify",
        "gradle test", "./gradlew test", "make test",  "make check",    "rspec",    "phpunit"};
    std::string parts = command;
    for (const std::string_view separator : {"&&", "||", "\n"}) parts = replaced(parts, separator, ";");
    for (const std::string& part : split(parts, ';')) {
        const std::string_view bare = bare_command(part);
        const bool is_runner = std::any_of(runners.begin(), runners.end(), [&](std::string_view runner) {
            return bare.starts_with(runner) &&
                   (bare.size() == runner.size() || bare[runner.size()] == ' ' || bare[runner.size()] == '|');
        });
        if (is_runner) return true;
    }
    return false;
}

}  // namespace epilogue
