#include "worker/core/digest.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/redacted.h"
#include "base/text.h"
#include "schemas/shell_command.h"

namespace epilogue {
namespace {

using Order = Digest::Order;
using Result = Digest::Check::Result;

constexpr std::size_t max_problems = 6;
constexpr std::size_t max_steps = 6;
constexpr std::size_t max_folders = 4;

/// Where OpenHands puts repositories.
constexpr std::array<std::string_view, 2> workspaces{"/workspace/project/", "/workspace/"};

std::string truncated(std::string_view text) {
    return redacted_prefix(trimmed(text), max_digest_text_bytes);
}

bool has_room(Digest& digest, std::size_t size, std::size_t most = max_digest_entries) {
    if (size < most) return true;
    digest.cut = true;
    return false;
}

void add_once(Digest& digest, std::vector<std::string>& list, std::string entry,
              std::size_t most = max_digest_entries) {
    if (entry.empty() || std::ranges::find(list, entry) != list.end()) return;
    if (has_room(digest, list.size(), most)) list.push_back(std::move(entry));
}

template <class Entry, class Name>
Entry* entry_of(std::vector<Entry>& entries, Name Entry::*name, const Name& wanted) {
    const auto found = std::ranges::find(entries, wanted, name);
    return found == entries.end() ? nullptr : &*found;
}

/// "git push", "npm install", "python run.py": what a later success has to be of to overcome an error.
std::string kind_of_command(std::string_view command) {
    std::string kind;
    for (const SimpleCommand& part : chain_of(command)) {
        const ShellWords words = bare_words(words_of(part.text));
        if (words.empty() || words[0] == "cd") continue;
        kind = std::string(words[0]);
        if (words.size() > 1) kind.append(" ").append(words[1]);
    }
    return kind;
}

/// Whether a command only looks: it fails when it finds nothing, which is no error.
bool only_looks(std::string_view command) {
    constexpr std::array<std::string_view, 32> programs{
        "grep",  "egrep", "rg",   "ag",    "find", "fd",       "ls",   "cat",   "head", "tail", "less",
        "test",  "[",     "[[",   "which", "type", "command",  "diff", "cmp",   "stat", "wc",   "file",
        "pgrep", "pkill", "kill", "ps",    "lsof", "printenv", "echo", "sleep", "tree", "sort"};
    constexpr std::array<std::string_view, 9> git_looks{"diff",   "grep",      "status",   "log",  "show",
                                                        "branch", "rev-parse", "ls-files", "stash"};
    const auto chain = chain_of(command);
    return std::ranges::all_of(chain, [&](const SimpleCommand& part) {
        const ShellWords words = bare_words(words_of(part.text));
        if (words.empty() || words[0] == "cd") return true;
        if (words[0] == "git")
            return words.size() < 2 || std::ranges::find(git_looks, words[1]) != git_looks.end();
        return std::ranges::find(programs, words[0]) != programs.end();
    });
}

/// What leaves the machine stands until it succeeds, whatever is edited meanwhile.
bool publishes(std::string_view command) {
    constexpr std::array<std::string_view, 8> kinds{"git push",         "gh pr",       "glab mr",
                                                    "hub pull-request", "npm publish", "docker push",
                                                    "cargo publish",    "twine upload"};
    return std::ranges::find(kinds, kind_of_command(command)) != kinds.end();
}

/// Whether a command that succeeded may have changed that file.
bool may_change(std::string_view command, std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    if (name.empty() || command.find(name) == std::string_view::npos) return false;
    constexpr std::array<std::string_view, 9> signs{"sed -i", ">",     "tee ",      "cp ", "mv ",
                                                    "python", "patch", "git apply", "perl"};
    return std::ranges::any_of(
        signs, [&](std::string_view sign) { return command.find(sign) != std::string_view::npos; });
}

/// The first absolute path that a text names, without the mark that ends its sentence; "": none.
std::string_view path_in(std::string_view text) {
    std::size_t at = 0;
    while ((at = text.find('/', at)) != std::string_view::npos) {
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '`' || text[at - 1] == '\'';
        if (begins) break;
        ++at;
    }
    if (at == std::string_view::npos) return {};
    auto path = text.substr(at, text.find_first_of(" \n`'\"", at) - at);
    while (path.ends_with('.') || path.ends_with(',') || path.ends_with(':')) path.remove_suffix(1);
    return path;
}

/// A tool's name or arguments that the agent got wrong: it has learned that, and a reader need not know.
bool is_slip(std::string_view text) {
    return text.starts_with("Error validating") ||
           (text.starts_with("Tool '") && text.find("not found") != std::string_view::npos);
}

void add_problem(Digest& digest, Digest::Problem problem) {
    // What is older than the newest is read again, or has been overcome meanwhile.
    if (problem.order <= digest.newest) return;
    std::erase_if(digest.problems, [&](const auto& known) {
        return known.kind == problem.kind && known.subject == problem.subject && known.text == problem.text;
    });
    if (digest.problems.size() == max_problems) digest.problems.erase(digest.problems.begin());
    digest.problems.push_back(std::move(problem));
}

/// Takes off what a success at `order` overcomes.
template <class IsOvercome>
void overcome(Digest& digest, Order order, IsOvercome is_overcome) {
    std::erase_if(digest.problems,
                  [&](const Digest::Problem& p) { return p.order < order && is_overcome(p); });
}

struct AddWork {
    Digest& digest;
    const Order order;

    void operator()(const CommandStarted& started) const { note_unfinished(started.command); }
    void operator()(const CommandEnded& ended) const {
        const std::string command = ended.command.empty() ? digest.unfinished : ended.command;
        note_unfinished(ended.exit_code == -1 ? command : "");
        add_once_folder(ended.folder);
        if (command.empty()) return;
        const auto check = check_in(command);
        if (check)
            note_run(*check, ended);
        else if (ended.exit_code > 0 && ended.exit_code != interrupted && !only_looks(command))
            add_problem(digest, {Digest::Problem::Kind::command, truncated(replaced(command, "\n", " ")),
                                 truncated(error_line(ended.output)), ended.exit_code, order});
        if (ended.exit_code == 0) note_success(command);
    }
    void operator()(const FileChanged& changed) const {
        const std::string path = truncated(changed.path);
        if (path.empty()) return;
        note_file(path, changed);
        overcome(digest, order, [&](const Digest::Problem& p) {
            if (p.kind == Digest::Problem::Kind::command) return !publishes(p.subject);
            return p.kind == Digest::Problem::Kind::tool || p.subject.empty() || p.subject == path;
        });
    }
    void operator()(const BranchMoved& moved) const {
        const std::string name = truncated(moved.branch);
        auto* branch = entry_of(digest.branches, &Digest::Branch::name, name);
        if (branch == nullptr) {
            if (!has_room(digest, digest.branches.size(), max_problems)) return;
            branch = &digest.branches.emplace_back();
            branch->name = name;
        }
        (moved.is_pushed ? branch->is_pushed : branch->is_committed) = true;
        if (order < branch->order || moved.hash.empty()) return;
        branch->hash = moved.hash;
        branch->order = order;
    }
    void operator()(const RequestMade& made) const { add_once(digest, digest.links, truncated(made.url)); }
    void operator()(const ErrorSeen& error) const {
        if (is_slip(error.text)) return;
        const auto kind = error.is_edit ? Digest::Problem::Kind::edit : Digest::Problem::Kind::tool;
        const auto line = split(error.text, '\n');
        const std::string text = line.empty() || line.front() != "ERROR:" ? (line.empty() ? "" : line.front())
                                                                          : (line.size() > 1 ? line[1] : "");
        const std::string subject = error.is_edit ? truncated(path_in(error.text)) : "";
        if (!text.empty()) add_problem(digest, {kind, subject, truncated(text), std::nullopt, order});
    }
    void operator()(const ToolSucceeded&) const { overcome_tools(); }
    void operator()(const OutcomeSaid& said) const {
        if (order >= digest.newest) digest.falls_short = !said.is_reached;
    }
    void operator()(const TaskRefused& refused) const { digest.refusal = truncated(refused.reason); }
    void operator()(const UsageTold&) const {}  // the conversation's: see FoldStep

  private:
    static constexpr int interrupted = 130;  ///< by Ctrl-C

    void add_once_folder(const std::string& folder) const {
        if (folder.size() > 1 && digest.folders.size() < max_folders &&
            folder.size() <= max_digest_text_bytes &&
            std::ranges::find(digest.folders, folder) == digest.folders.end())
            digest.folders.push_back(folder);
    }
    void overcome_tools() const {
        overcome(digest, order,
                 [](const Digest::Problem& p) { return p.kind == Digest::Problem::Kind::tool; });
    }
    void note_success(std::string_view command) const {
        const std::string kind = kind_of_command(command);
        overcome(digest, order, [&](const Digest::Problem& p) {
            if (p.kind == Digest::Problem::Kind::command) return kind_of_command(p.subject) == kind;
            return p.kind == Digest::Problem::Kind::tool || may_change(command, p.subject);
        });
    }
    void note_unfinished(std::string_view command) const {
        if (order <= digest.newest) return;
        digest.unfinished = truncated(command);
        digest.unfinished_order = command.empty() ? 0 : order;
    }
    void note_run(const CheckCommand& command, const CommandEnded& ended) const {
        Digest::Check run;
        run.text = truncated(replaced(command.text, "\n", " "));
        run.folder = truncated(ended.folder);
        run.kind = command.kind;
        run.order = order;
        take_result(run, command, ended);
        const auto found = std::ranges::find_if(digest.checks, [&](const Digest::Check& known) {
            return known.text == run.text && known.folder == run.folder;
        });
        auto* check = found == digest.checks.end() ? nullptr : &*found;
        if (check == nullptr) {
            if (digest.checks.size() == max_digest_entries && !drop_older_check()) return;
            digest.checks.push_back(std::move(run));
        } else if (order > check->order) {
            run.failed_before = check->failed_before || check->result == Result::failed;
            *check = std::move(run);
        } else if (order < check->order && run.result == Result::failed) {
            check->failed_before = true;
        }
    }
    /// Makes room for a run that is newer than the oldest.
    bool drop_older_check() const {
        digest.cut = true;
        const auto oldest = std::ranges::min_element(digest.checks, {}, &Digest::Check::order);
        if (oldest->order >= order) return false;
        digest.checks.erase(oldest);
        return true;
    }
    static void take_result(Digest::Check& run, const CheckCommand& command, const CommandEnded& ended) {
        run.counts = counts_in(ended.output);
        const bool is_over = ended.exit_code != -1;
        const bool failed = (is_over && ended.exit_code != 0 && command.exit_tells) ||
                            (run.counts && run.counts->failed > 0) ||
                            (!command.exit_tells && !run.counts && says_failure(ended.output));
        const bool passed =
            !failed && ((is_over && ended.exit_code == 0 && command.exit_tells) || run.counts);
        if (failed) run.result = Result::failed;
        if (passed) run.result = Result::passed;
        if (failed) run.error = truncated(error_line(ended.output));
        if (failed && ended.exit_code > 0) run.exit_code = ended.exit_code;
    }
    void note_file(const std::string& path, const FileChanged& changed) const {
        auto* file = entry_of(digest.files, &Digest::File::path, path);
        if (file == nullptr) {
            if (!has_room(digest, digest.files.size(), max_digest_files)) return;
            digest.files.push_back({path, changed.change == FileChange::created,
                                    changed.change == FileChange::deleted, changed.lines, order});
            return;
        }
        if (order <= file->order) return;
        file->order = order;
        // A file that is made anew after it was deleted was edited, as far as the events tell.
        if (file->deleted && changed.change == FileChange::created) file->lines.reset();
        file->deleted = changed.change == FileChange::deleted;
        if (changed.change == FileChange::deleted) return;
        if (!changed.lines) file->lines.reset();
        if (!file->lines || !changed.lines) return;
        file->lines->added += changed.lines->added;
        file->lines->removed += changed.lines->removed;
    }
};

/// Whether a run of `broad` runs what one of `narrow` does.
bool covers(const Digest::Check& broad, const Digest::Check& narrow) {
    if (broad.kind != narrow.kind || broad.folder != narrow.folder) return false;
    const ShellWords wide = bare_words(words_of(broad.text));
    const ShellWords tight = bare_words(words_of(narrow.text));
    return !wide.empty() && wide.size() <= tight.size() &&
           std::equal(wide.begin(), wide.end(), tight.begin());
}

/// All runs, with the one whose end was not seen in place of the earlier ones of the same words.
std::vector<Digest::Check> all_runs(const Digest& digest) {
    std::vector<Digest::Check> checks = digest.checks;
    const auto unfinished = check_in(digest.unfinished);
    if (!unfinished) return checks;
    Digest::Check run;
    run.text = unfinished->text;
    run.kind = unfinished->kind;
    run.order = digest.unfinished_order;
    const auto same = [&](const Digest::Check& check) { return check.text == run.text; };
    const bool is_told = std::ranges::any_of(
        checks, [&](const Digest::Check& check) { return same(check) && check.order >= run.order; });
    if (is_told) return checks;
    std::erase_if(checks, same);
    checks.push_back(std::move(run));
    return checks;
}

}  // namespace

void add(Digest& digest, const Work& work, Digest::Order order) {
    std::visit(AddWork{digest, order}, work);
    // All that one event tells stands at one place: its own first entry does not make the others old.
    if (!std::holds_alternative<UsageTold>(work)) digest.newest = std::max(digest.newest, order);
}

void add(Digest& digest, const Work& work) {
    add(digest, work, digest.newest + 1);
}

void note_step(Digest& digest, std::string_view step, Digest::Order order) {
    const bool is_new = digest.steps.empty() || order > digest.steps.back().order;
    if (!is_new) return;
    ++digest.figures.steps;
    constexpr std::size_t shown = 120;
    std::string text =
        redacted_prefix(trimmed(replaced(prefix_of(step, max_output_bytes), "\n", " ")), shown);
    if (digest.steps.size() == max_steps) digest.steps.erase(digest.steps.begin());
    digest.steps.push_back({std::move(text), order});
}

void shift(Digest& digest, Digest::Order by) {
    const auto move = [&](auto& entries) {
        for (auto& entry : entries) entry.order += by;
    };
    move(digest.files);
    move(digest.checks);
    move(digest.problems);
    move(digest.branches);
    move(digest.steps);
    if (digest.newest != 0) digest.newest += by;
    if (digest.unfinished_order != 0) digest.unfinished_order += by;
}

std::vector<Digest::Check> shown_checks(const Digest& digest) {
    std::vector<Digest::Check> checks = all_runs(digest);
    std::ranges::sort(checks, [](const Digest::Check& one, const Digest::Check& other) {
        return std::tie(other.order, one.text) < std::tie(one.order, other.text);
    });
    for (auto broad = checks.begin(); broad != checks.end(); ++broad) {
        if (broad->result == Result::unknown) continue;
        const auto is_covered = [&](const Digest::Check& check) { return covers(*broad, check); };
        for (auto narrow = std::next(broad); narrow != checks.end(); ++narrow)
            if (is_covered(*narrow) && (narrow->result == Result::failed || narrow->failed_before))
                broad->failed_before = true;
        checks.erase(std::remove_if(std::next(broad), checks.end(), is_covered), checks.end());
    }
    return checks;
}

bool has_problems(const Digest& digest) {
    if (digest.falls_short || !digest.problems.empty()) return true;
    const auto checks = shown_checks(digest);
    for (auto check = checks.begin(); check != checks.end(); ++check) {
        const bool a_part_passed = std::any_of(checks.begin(), check, [&](const Digest::Check& newer) {
            return newer.result == Result::passed && covers(*check, newer);
        });
        if (check->result == Result::failed && !a_part_passed) return true;
    }
    return false;
}

std::string_view shortened(const Digest& digest, std::string_view path) {
    std::string_view shortest;
    for (const std::string& folder : digest.folders) {
        const bool holds =
            path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/';
        if (holds && (shortest.empty() || folder.size() < shortest.size())) shortest = folder;
    }
    if (!shortest.empty()) return path.substr(shortest.size() + 1);
    for (const std::string_view workspace : workspaces)
        if (path.starts_with(workspace)) return path.substr(workspace.size());
    return path;
}

std::string without_folders(const Digest& digest, std::string_view text) {
    std::vector<std::string> folders = digest.folders;
    std::ranges::sort(folders, std::greater<>{}, &std::string::size);
    std::string shorter(text);
    for (const std::string& folder : folders) shorter = replaced(shorter, folder + "/", "");
    for (const std::string_view workspace : workspaces) shorter = replaced(shorter, workspace, "");
    return shorter;
}

}  // namespace epilogue
