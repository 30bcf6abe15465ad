// What was done in a turn, as facts: files changed, the last run of each test and build, commits and pushes,
// pull requests, and the errors that still stand. Bounded, and harmless to repeat: each entry keeps the order
// of what it tells of, and what is older changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/event.h"
#include "worker/core/check_command.h"
#include "worker/core/test_counts.h"

namespace epilogue {

struct Digest {
    /// Where something stands among the turn's events: V1's time in microseconds, V0's number.
    using Order = std::int64_t;

    struct File {
        std::string path;
        bool created = false;             ///< in this turn
        bool deleted = false;             ///< a file created and deleted is none
        std::optional<LineChange> lines;  ///< of all edits; none: one of them does not tell
        Order order = 0;
        bool operator==(const File&) const = default;
    };
    /// A command that runs tests or a build, with its last result.
    struct Check {
        enum class Result { unknown, passed, failed };
        std::string text;
        CheckKind kind = CheckKind::test;
        Result result = Result::unknown;
        std::optional<int> exit_code;  ///< of a run that failed by it
        std::optional<TestCounts> counts;
        std::string error;           ///< of a run that failed: the line that says best why
        bool failed_before = false;  ///< some run before the last one
        std::string folder;          ///< where it ran, as far as the shell tells
        Order order = 0;
        bool operator==(const Check&) const = default;
    };
    /// An error that nothing has overcome yet.
    struct Problem {
        enum class Kind { command, edit, tool };
        Kind kind = Kind::command;
        std::string subject;                ///< the command, or the file that was to be changed; may be empty
        std::string text;                   ///< one line; may be empty
        std::optional<int> exit_code = {};  ///< of a command
        Order order = 0;
        bool operator==(const Problem&) const = default;
    };
    struct Branch {
        std::string name;
        std::string hash;  ///< newest; may be empty
        bool is_pushed = false;
        bool is_committed = false;
        Order order = 0;
        bool operator==(const Branch&) const = default;
    };
    struct Step {
        std::string text;
        Order order = 0;
        bool operator==(const Step&) const = default;
    };
    struct Goal {                ///< a `/goal` loop that ended without reaching its goal
        bool is_capped = false;  ///< its rounds were used up; else it was interrupted
        std::int64_t rounds = 0;
        std::int64_t max_rounds = 0;
        bool operator==(const Goal&) const = default;
    };
    /// What the turn took; kept whether it is shown or not.
    struct Figures {
        std::int64_t steps = 0;
        std::optional<UsageTold> usage_before;  ///< of the conversation when the turn was opened
        std::optional<UsageTold> usage;         ///< of the turn alone; set when it ends
        std::optional<std::int64_t> seconds;    ///< from its opening to its end; set when it ends
        bool operator==(const Figures&) const = default;
    };

    std::vector<File> files;
    std::vector<Check> checks;
    std::vector<Problem> problems;
    std::vector<Branch> branches;
    std::vector<std::string> links;    ///< of pull and merge requests
    std::vector<Step> steps;           ///< the newest
    std::vector<std::string> folders;  ///< where commands ran, to shorten paths by
    std::string unfinished;            ///< the command whose end was not seen yet
    Order unfinished_order = 0;
    std::string refusal;       ///< why the agent refused the task (V0)
    bool falls_short = false;  ///< the agent itself says that the task is not done
    std::optional<Goal> goal;
    Figures figures;
    Order newest = 0;
    bool cut = false;  ///< something was left out because a list was full

    bool operator==(const Digest&) const = default;
};

constexpr std::size_t max_digest_files = 100;
constexpr std::size_t max_digest_entries = 12;      ///< of each other list
constexpr std::size_t max_digest_text_bytes = 240;  ///< of each text

/// Adds what one event tells. Adding the same event twice changes nothing.
void add(Digest& digest, const Work& work, Digest::Order order);
/// The same, behind everything that was added before.
void add(Digest& digest, const Work& work);

/// Notes what the agent is about to do.
void note_step(Digest& digest, std::string_view step, Digest::Order order);

/// Moves all that was added by so much: its times were taken for those of another zone.
void shift(Digest& digest, Digest::Order by);

/// Whether the turn's work has an end that a person should look at: the last run of a test or of a build has
/// failed, and no part of it has passed since; an error stands; or the agent says that the task is not done.
bool has_problems(const Digest& digest);

/// The checks to show, newest first: without those that a later, broader run covers, which is told as
/// `failed_before` when they failed ("pytest tests/a.py" by "pytest").
std::vector<Digest::Check> shown_checks(const Digest& digest);

/// The path without the shortest of the folders in which commands ran.
std::string_view shortened(const Digest& digest, std::string_view path);

/// A text without those folders.
std::string without_folders(const Digest& digest, std::string_view text);

}  // namespace epilogue
