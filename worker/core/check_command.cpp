#include "worker/core/check_command.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "schemas/shell_command.h"

namespace epilogue {
namespace {

constexpr std::array<std::string_view, 38> test_runners{
    "pytest",       "py.test",    "tox",           "nox",           "unittest",       "ctest",
    "go test",      "gotestsum",  "cargo test",    "cargo nextest", "npm test",       "npm t",
    "npm run test", "yarn test",  "yarn run test", "pnpm test",     "pnpm run test",  "bun test",
    "deno test",    "jest",       "vitest",        "mocha",         "node --test",    "playwright test",
    "mvn test",     "mvn verify", "./mvnw test",   "gradle test",   "./gradlew test", "dotnet test",
    "make test",    "make check", "rspec",         "rake test",     "rails test",     "phpunit",
    "meson test",   "bazel test"};
constexpr std::array<std::string_view, 30> builders{
    "make",           "ninja",        "cmake --build",   "cargo build",     "cargo check",
    "cargo clippy",   "go build",     "go vet",          "npm run build",   "yarn build",
    "yarn run build", "pnpm build",   "pnpm run build",  "bun run build",   "tsc",
    "vite build",     "webpack",      "mvn package",     "mvn compile",     "mvn install",
    "./mvnw package", "gradle build", "./gradlew build", "gradle assemble", "./gradlew assemble",
    "dotnet build",   "docker build", "bazel build",     "meson compile",   "msbuild"};

template <std::size_t N>
bool is_run_of(std::string_view bare, const std::array<std::string_view, N>& programs) {
    return std::ranges::any_of(programs, [&](std::string_view program) {
        if (!bare.starts_with(program)) return false;
        if (bare.size() == program.size()) return true;
        const char next = bare[program.size()];
        return next == ' ' ||
               (next == ':' && program.find(' ') != std::string_view::npos);  // npm run test:unit
    });
}

/// What remains of a command once wrappers and interpreters, and the folder of its program, are taken off.
std::string_view bare_command(std::string_view command) {
    constexpr std::array<std::string_view, 14> wrappers{
        "env",        "sudo", "time",      "exec",       "nice",       "xvfb-run",    "uv run",
        "poetry run", "npx",  "python -m", "python3 -m", "pipenv run", "bundle exec", "hatch run"};
    constexpr std::array<std::string_view, 4> folders{"./vendor/bin/", "vendor/bin/", "./node_modules/.bin/",
                                                      "node_modules/.bin/"};
    while (true) {
        const auto* wrapper = std::ranges::find_if(wrappers, [&](std::string_view w) {
            return command.starts_with(w) && command.size() > w.size() && command[w.size()] == ' ';
        });
        if (wrapper != wrappers.end()) {
            command = trimmed(command.substr(wrapper->size()));
            continue;
        }
        const auto word = command.substr(0, command.find(' '));
        if (word == "timeout" && word.size() < command.size()) {  // `timeout 60 pytest`
            command = trimmed(command.substr(word.size()));
            while (command.starts_with('-') || (!command.empty() && command[0] >= '0' && command[0] <= '9'))
                command = trimmed(command.substr(std::min(command.find(' '), command.size())));
            continue;
        }
        const bool assigns = word.size() < command.size() && word.find('=') != std::string_view::npos;
        if (assigns) {
            command = trimmed(command.substr(word.size()));
            continue;
        }
        for (const std::string_view folder : folders)
            if (command.starts_with(folder)) command = command.substr(folder.size());
        return command;
    }
}

/// `make` with a target that builds nothing.
bool cleans(std::string_view bare) {
    const auto words = words_of(bare);
    constexpr std::array<std::string_view, 4> targets{"clean", "distclean", "help", "install"};
    const bool is_make = !words.empty() && (words[0] == "make" || words[0] == "ninja");
    return is_make && std::ranges::any_of(words, [&](std::string_view word) {
               return std::ranges::find(targets, word) != targets.end();
           });
}

/// Only shows what it knows or would do.
bool asks_only(std::string_view bare) {
    constexpr std::array<std::string_view, 6> options{"--version",      "--help", "-h",
                                                      "--collect-only", "-N",     "--co"};
    const auto words = words_of(bare);
    return std::ranges::any_of(
        words, [&](std::string_view word) { return std::ranges::find(options, word) != options.end(); });
}

std::optional<CheckKind> kind_as_written(std::string_view bare) {
    if (is_run_of(bare, test_runners)) return CheckKind::test;
    if (is_run_of(bare, builders) && !cleans(bare)) return CheckKind::build;
    return std::nullopt;
}

/// As it is written, or without its options: "mvn -q verify", "make -C build test".
std::optional<CheckKind> kind_of(std::string_view bare) {
    if (asks_only(bare)) return std::nullopt;
    std::string joined;
    for (const auto word : bare_words(words_of(bare))) joined.append(joined.empty() ? "" : " ").append(word);
    const auto without_options = kind_as_written(joined);
    return without_options == CheckKind::test ? without_options : kind_as_written(bare);
}

}  // namespace

std::optional<CheckCommand> check_in(std::string_view command) {
    std::optional<CheckCommand> check;
    const auto chain = chain_of(command);
    bool runs_on = true;  ///< all behind the last run follows only when that succeeded
    for (std::size_t i = 0; i < chain.size(); ++i) {
        const std::string text = plain_command(chain[i].text);
        const bool is_piped_into = i > 0 && chain[i - 1].after == "|";
        const auto kind = is_piped_into ? std::nullopt : kind_of(bare_command(text));
        if (kind) {
            const bool is_test = *kind == CheckKind::test || (check && check->kind == CheckKind::test);
            std::string all = check ? check->text + " && " + text : text;
            check = CheckCommand{is_test ? CheckKind::test : CheckKind::build, std::move(all), true};
            runs_on = true;
        }
        runs_on = runs_on && (chain[i].after.empty() || chain[i].after == "&&");
        if (check && !chain[i].after.empty() && i + 1 == chain.size()) runs_on = chain[i].after == ";";
    }
    if (check) check->exit_tells = runs_on || command.find("pipefail") != std::string_view::npos;
    return check;
}

}  // namespace epilogue
