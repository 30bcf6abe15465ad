// What was done in a turn, as facts: files changed, commands and tests run with their results, pull
// requests opened or pushed to, errors. Bounded, and harmless to repeat: every entry is keyed by what it
// tells of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schemas/event.h"

namespace epilogue {

struct Digest {
    struct Command {
        std::string id;  ///< of the action
        std::string text;
        bool is_test = false;
        std::optional<int> exit_code;  ///< none: no result was seen
        bool operator==(const Command&) const = default;
    };
    struct ReportedError {
        std::string id;
        std::string text;
        bool operator==(const ReportedError&) const = default;
    };
    std::vector<std::string> files;
    std::vector<Command> commands;
    std::vector<std::string> links;
    std::vector<ReportedError> errors;
    struct Goal {                ///< a `/goal` loop that ended without reaching its goal
        bool is_capped = false;  ///< its rounds were used up; else it was interrupted
        std::int64_t rounds = 0;
        std::int64_t max_rounds = 0;
        bool operator==(const Goal&) const = default;
    };
    std::optional<Goal> goal;
    bool cut = false;  ///< something was left out because a list was full

    bool operator==(const Digest&) const = default;
};

constexpr std::size_t max_digest_entries = 50;      ///< of each list
constexpr std::size_t max_digest_text_bytes = 300;  ///< of each entry

/// Adds what one event tells. Adding the same event twice changes nothing.
void add(Digest& digest, const Work& work);

/// True for commands that run a test suite (pytest, ctest, go test, cargo test, npm test, …), also behind
/// `cd x &&` or environment assignments.
bool runs_tests(const std::string& command);

}  // namespace epilogue
