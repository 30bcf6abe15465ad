#include "worker/core/digest_facts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "worker/core/error_catalogue.h"

namespace epilogue {
namespace {

using Result = Digest::Check::Result;

constexpr std::size_t shown_files = 8;
constexpr std::size_t shown_folders = 6;
constexpr std::size_t shown_checks_most = 5;
constexpr std::size_t shown_problems = 3;
constexpr std::size_t shown_links = 5;
constexpr std::size_t shown_branches = 3;
constexpr std::size_t shown_text_bytes = 120;

/// Builds the lines of one turn.
class Facts {
  public:
    Facts(const TurnEnd& turn, const FactsRules& rules) : turn_(turn), digest_(turn.digest), rules_(rules) {}

    std::string text() && {
        outcome();
        changes();
        branches();
        checks();
        links();
        problems();
        verdict_facts();
        next();
        if (rules_.figures) figures();
        std::string text = sentence_;
        for (const std::string& line : lines_)
            text += (text.empty() ? "" : text == sentence_ ? "\n\n" : "\n") + line;
        return text;
    }

  private:
    template <class... Parts>
    std::string said(Phrase name, const Parts&... parts) const {
        return fmt::format(fmt::runtime(phrase(rules_.language, name)), parts...);
    }
    /// A line that no longer fits is left out; next steps come before figures, so the last ones give way.
    void line(const std::string& text) {
        size_ += text.size() + 3;
        if (size_ <= max_facts_bytes) lines_.push_back("- " + text);
    }
    bool is(Verdict verdict) const { return turn_.verdict == verdict; }

    /// What became of the task, where the headline leaves it open.
    void outcome() {
        if (is(Verdict::error)) {
            const Reason reason = turn_.reason.value_or(Reason{});
            sentence_ = error_sentence(rules_.language, reason.code, reason.kind);
        } else if (is(Verdict::rejected)) {
            sentence_ = said(Phrase::refused);
        } else if (is(Verdict::stopped)) {
            sentence_ = said(Phrase::stopped_early);
        } else if (is(Verdict::timeout) && !turn_.may_lie_in_gap) {
            sentence_ = said(Phrase::outcome_unknown);
        } else if (is(Verdict::finished) && digest_.falls_short) {
            sentence_ = said(Phrase::falls_short);
        }
        size_ = sentence_.size();
        if (digest_.goal)
            line(said(digest_.goal->is_capped ? Phrase::goal_capped : Phrase::goal_interrupted,
                      digest_.goal->rounds, digest_.goal->max_rounds));
    }

    static std::string counted(const LineChange& lines) {
        std::string text;
        if (lines.added > 0) text += fmt::format("+{}", lines.added);
        if (lines.removed > 0) text += fmt::format("{}−{}", text.empty() ? "" : " ", lines.removed);
        return text;
    }
    std::string told(const Digest::File& file) const {
        std::vector<std::string> notes;
        if (file.deleted)
            notes.emplace_back(phrase(rules_.language, Phrase::deleted));
        else if (file.created)
            notes.emplace_back(phrase(rules_.language, Phrase::created));
        if (!file.deleted && file.lines && !counted(*file.lines).empty())
            notes.push_back(counted(*file.lines));
        const std::string name = code_span(shortened(digest_, file.path));
        return notes.empty() ? name : fmt::format("{} ({})", name, fmt::join(notes, ", "));
    }
    void changes() {
        std::vector<const Digest::File*> files;
        for (const auto& file : digest_.files)
            if (!(file.created && file.deleted)) files.push_back(&file);
        if (files.empty()) return;
        if (files.size() > shown_files) return many_changes(files);
        std::vector<std::string> told_files;
        for (const auto* file : files) told_files.push_back(told(*file));
        line(said(Phrase::changed, fmt::format("{}", fmt::join(told_files, ", "))));
    }
    void many_changes(const std::vector<const Digest::File*>& files) {
        // A sum that lacks a file would be taken for all of it. What is deleted has no lines, as above.
        std::optional<LineChange> lines;
        const bool may_be_more = digest_.files.size() == max_digest_files && digest_.cut;
        if (!may_be_more) lines.emplace();
        std::size_t created = 0;
        std::size_t deleted = 0;
        std::map<std::string, std::size_t> folders;
        for (const auto* file : files) {
            created += file->created ? 1 : 0;
            deleted += file->deleted ? 1 : 0;
            if (!file->deleted && !file->lines) lines.reset();
            if (lines && !file->deleted) {
                lines->added += file->lines->added;
                lines->removed += file->lines->removed;
            }
            const auto path = shortened(digest_, file->path);
            const auto slash = path.rfind('/');
            ++folders[slash == std::string_view::npos ? "./" : std::string(path.substr(0, slash + 1))];
        }
        std::vector<std::string> kinds;
        const auto kind = [&](Phrase name, std::size_t count) {
            if (count > 0) kinds.push_back(said(name, count));
        };
        kind(Phrase::count_created, created);
        kind(Phrase::count_edited, files.size() - created - deleted);
        kind(Phrase::count_deleted, deleted);
        if (lines && !counted(*lines).empty()) kinds.push_back(counted(*lines));
        std::vector<std::pair<std::string, std::size_t>> sorted(folders.begin(), folders.end());
        std::ranges::sort(sorted, [](const auto& one, const auto& other) {
            return std::tie(other.second, one.first) < std::tie(one.second, other.first);
        });
        std::vector<std::string> shown;
        std::size_t left = files.size();
        for (const auto& [folder, count] : sorted) {
            if (shown.size() == shown_folders) break;
            shown.push_back(fmt::format("{} {}", code_span(folder), count));
            left -= count;
        }
        if (left > 0) shown.push_back(said(Phrase::more, left));
        const std::string total = fmt::format("{}{}", files.size(), may_be_more ? "+" : "");
        line(said(Phrase::changed_many, total, fmt::format("{}", fmt::join(kinds, ", ")),
                  fmt::format("{}", fmt::join(shown, ", "))));
    }

    void branches() {
        std::size_t shown = 0;
        for (const auto& branch : digest_.branches) {
            if (++shown > shown_branches) return;
            const std::string name = code_span(branch.name);
            const std::string hash = branch.hash.empty() ? "" : code_span(branch.hash);
            if (branch.is_committed && !hash.empty())
                line(said(branch.is_pushed ? Phrase::committed_and_pushed : Phrase::committed, hash, name));
            else if (branch.is_pushed)
                line(hash.empty() ? said(Phrase::pushed, name) : said(Phrase::pushed_hash, hash, name));
        }
    }

    std::string result_of(const Digest::Check& check) const {
        if (check.result == Result::unknown) return said(Phrase::no_result);
        std::vector<std::string> parts;
        if (check.counts) {
            const auto& counts = *check.counts;
            const bool packages = counts.of_packages;
            if (counts.failed > 0)
                parts.push_back(
                    said(packages ? Phrase::packages_failed : Phrase::count_failed, counts.failed));
            if (counts.passed > 0)
                parts.push_back(
                    said(packages ? Phrase::packages_passed : Phrase::count_passed, counts.passed));
            if (counts.skipped > 0 && !parts.empty())
                parts.push_back(said(Phrase::count_skipped, counts.skipped));
        }
        const bool is_told = check.counts && (check.counts->failed > 0 || check.result == Result::passed);
        std::string result;
        if (check.result == Result::failed && !is_told)
            result =
                check.exit_code ? said(Phrase::failed_with_code, *check.exit_code) : said(Phrase::failed);
        else if (parts.empty())
            result = said(Phrase::passed);
        if (!parts.empty()) result += fmt::format("{}{}", result.empty() ? "" : ", ", fmt::join(parts, ", "));
        if (check.result == Result::passed && check.failed_before)
            result += fmt::format(" ({})", said(Phrase::fixed));
        return result;
    }
    /// Its words, and its folder where the same words ran in several.
    std::string name_of(const Digest::Check& check, const std::vector<Digest::Check>& all) const {
        const std::string name = code_span(check.text);
        const bool is_one_of_many = std::ranges::count(all, check.text, &Digest::Check::text) > 1;
        if (!is_one_of_many || check.folder.empty()) return name;
        return fmt::format("{} ({})", name, code_span(shortened(digest_, check.folder)));
    }
    void checks() {
        auto checks = shown_checks(digest_);
        std::ranges::sort(checks, [](const Digest::Check& one, const Digest::Check& other) {
            return std::tie(one.kind, other.order, one.text) < std::tie(other.kind, one.order, other.text);
        });
        for (std::size_t i = 0; i < std::min(shown_checks_most, checks.size()); ++i) {
            const auto name = checks[i].kind == CheckKind::test ? Phrase::tests : Phrase::build;
            line(said(name, name_of(checks[i], checks), result_of(checks[i])));
        }
        if (checks.size() > shown_checks_most)
            lines_.back() += fmt::format(" ({})", said(Phrase::more, checks.size() - shown_checks_most));
    }

    void links() {
        for (std::size_t i = 0; i < std::min(shown_links, digest_.links.size()); ++i)
            line(said(Phrase::pull_request, digest_.links[i]));
    }

    /// Whether the line of a failing check says more than its result, which was told above.
    static bool says_more(const std::string& line) {
        return !line.empty() && !counts_in(line) && !line.starts_with("Test Files") &&
               !line.starts_with("Test Suites");
    }
    std::string told(const Digest::Problem& problem) const {
        const std::string exit = problem.exit_code ? said(Phrase::failed_with_code, *problem.exit_code) : "";
        const std::string text =
            problem.text.empty() ? exit : code_span(without_folders(digest_, problem.text));
        if (problem.kind == Digest::Problem::Kind::command)
            return fmt::format("{}: {}", code_span(problem.subject), text);
        if (problem.kind == Digest::Problem::Kind::tool || problem.subject.empty()) return text;
        return fmt::format("{}: {}", said(Phrase::editing, code_span(shortened(digest_, problem.subject))),
                           text);
    }
    /// Failing checks that say why, then what else stands, the newest first.
    void problems() {
        std::vector<std::string> all;
        for (const auto& check : shown_checks(digest_))
            if (check.result == Result::failed && says_more(check.error))
                all.push_back(fmt::format("{}: {}", code_span(check.text),
                                          code_span(without_folders(digest_, check.error))));
        for (auto entry = digest_.problems.rbegin(); entry != digest_.problems.rend(); ++entry)
            // What it was stuck on is told below.
            if (!is(Verdict::stuck) || !entry->text.empty()) all.push_back(told(*entry));
        for (std::size_t i = 0; i < std::min(shown_problems, all.size()); ++i)
            line(said(Phrase::problem, all[i]));
    }

    /// What was repeated when it got stuck: nearly all of its last steps.
    std::vector<std::string> repeated_steps() const {
        std::vector<std::string> repeated;
        for (const auto& step : digest_.steps) {
            const auto times = std::ranges::count(digest_.steps, step.text, &Digest::Step::text);
            if (times > 1 && !step.text.empty() && std::ranges::find(repeated, step.text) == repeated.end())
                repeated.push_back(step.text);
        }
        return repeated;
    }
    void verdict_facts() {
        if (is(Verdict::rejected) && !digest_.refusal.empty())
            line(said(Phrase::reason, code_span(digest_.refusal)));
        if (is(Verdict::stuck)) {
            std::vector<std::string> steps = repeated_steps();
            for (std::string& step : steps) step = code_span(step);
            const bool was_silent = !digest_.steps.empty() && digest_.steps.back().text.empty();
            if (!steps.empty())
                line(said(Phrase::repeated, fmt::format("{}", fmt::join(steps, ", "))));
            else if (was_silent)
                line(said(Phrase::repeated_nothing));
        }
        const bool is_silent_error = is(Verdict::error) && (!turn_.reason || turn_.reason->code.empty());
        const bool broke_off = is(Verdict::timeout) || is(Verdict::stopped) || is_silent_error;
        if (broke_off && !digest_.steps.empty() && !digest_.steps.back().text.empty())
            line(said(Phrase::last_step, code_span(digest_.steps.back().text)));
    }

    bool words_say_next() const {
        const std::string words = lowered(rules_.words);
        for (const std::string_view sign : {"next step", "next:", "nächste"})
            if (words.find(sign) != std::string::npos) return true;
        return false;
    }
    void next() {
        const auto advise = [this](Phrase advice) { line(said(Phrase::next, said(advice))); };
        if (is(Verdict::error)) {
            const Reason reason = turn_.reason.value_or(Reason{});
            advise(catalogue_entry(reason.code, reason.kind).advice);
        } else if (is(Verdict::stuck)) {
            advise(Phrase::next_stuck);
        } else if (is(Verdict::timeout)) {
            advise(turn_.may_lie_in_gap ? Phrase::next_gap : Phrase::next_timeout);
        } else if (is(Verdict::finished) && has_problems(digest_) && !words_say_next()) {
            advise(Phrase::next_failing);
        }
    }

    std::string duration(std::int64_t seconds) const {
        constexpr std::int64_t minute = 60;
        constexpr std::int64_t hour = 60 * minute;
        if (seconds < minute) return said(Phrase::seconds, seconds);
        if (seconds < hour) return said(Phrase::minutes, seconds / minute, seconds % minute);
        return said(Phrase::hours, seconds / hour, seconds % hour / minute);
    }
    void figures() {
        const auto& figures = digest_.figures;
        std::vector<std::string> parts;
        if (figures.seconds) parts.push_back(duration(*figures.seconds));
        if (figures.steps > 0)
            parts.push_back(figures.steps == 1 ? said(Phrase::one_step) : said(Phrase::steps, figures.steps));
        if (const auto& usage = figures.usage; usage) {
            if (usage->tokens_in + usage->tokens_out > 0)
                parts.push_back(said(Phrase::tokens, usage->tokens_in, usage->tokens_out));
            constexpr std::int64_t cent = 10000;
            const std::int64_t cents = (usage->cost + cent / 2) / cent;
            if (cents > 0)
                parts.push_back(said(Phrase::cost, fmt::format("{}.{:02}", cents / 100, cents % 100)));
        }
        if (!parts.empty()) line(said(Phrase::took, fmt::format("{}", fmt::join(parts, ", "))));
    }

    const TurnEnd& turn_;
    const Digest& digest_;
    const FactsRules& rules_;
    std::string sentence_;
    std::vector<std::string> lines_;
    std::size_t size_ = 0;
};

}  // namespace

std::string facts_of(const TurnEnd& turn, const FactsRules& rules) {
    return Facts(turn, rules).text();
}

std::string gist_of(const TurnEnd& turn, Language language) {
    std::vector<std::string> parts;
    const auto files = static_cast<std::size_t>(std::ranges::count_if(
        turn.digest.files, [](const auto& file) { return !(file.created && file.deleted); }));
    const auto say = [&](Phrase name) { parts.emplace_back(phrase(language, name)); };
    if (files == 1) say(Phrase::one_file_changed);
    if (files > 1) parts.push_back(fmt::format(fmt::runtime(phrase(language, Phrase::files_changed)), files));
    const auto checks = shown_checks(turn.digest);
    const auto tests = std::ranges::find(checks, CheckKind::test, &Digest::Check::kind);
    if (tests != checks.end() && tests->result == Result::passed) say(Phrase::tests_pass);
    if (tests != checks.end() && tests->result == Result::failed) say(Phrase::tests_fail);
    if (!turn.digest.links.empty()) say(Phrase::request_made);
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string code_span(std::string_view text) {
    const std::string line = replaced(replaced(text, "`", "'"), "\n", " ⏎ ");
    const std::string_view shown = prefix_of(line, shown_text_bytes);
    return fmt::format("`{}{}`", shown, shown.size() < line.size() ? "…" : "");
}

}  // namespace epilogue
