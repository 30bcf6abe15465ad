// What both generations tell of the work in the same way.
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "schemas/decode_generations.h"
#include "schemas/git_reports.h"
#include "schemas/made_requests.h"
#include "schemas/shell_command.h"

namespace epilogue {
namespace {

/// The beginning and the end of an output that is too long; its middle is left out.
std::string kept_output(std::string_view output) {
    constexpr std::size_t beginning = max_output_bytes / 4;
    constexpr std::string_view gap = "\n";
    if (output.size() <= max_output_bytes) return std::string(output);
    std::size_t from = output.size() - (max_output_bytes - beginning - gap.size());
    while (from < output.size() && (static_cast<unsigned char>(output[from]) & 0xC0U) == 0x80U) ++from;
    return std::string(prefix_of(output, beginning)).append(gap).append(output.substr(from));
}

/// The files that `rm` and `git rm` name plainly: no folders, no patterns, nothing that a shell would expand.
void add_removed_files(std::vector<Work>& work, const ShellAnswer& answer) {
    for (const SimpleCommand& part : chain_of(answer.command)) {
        const std::string text = plain_command(part.text);
        const ShellWords all = words_of(text);
        const ShellWords words = bare_words(all);
        const std::size_t first = words.size() > 1 && words[0] == "git" && words[1] == "rm" ? 2 : 1;
        if (words.size() <= first || (first == 1 && words[0] != "rm")) continue;
        for (const auto option : all)
            if (option.starts_with('-') && option.find_first_of("rR") != std::string_view::npos) return;
        for (std::size_t i = first; i < words.size(); ++i) {
            if (words[i].find_first_of("*?[{$`~") != std::string_view::npos) continue;
            const bool is_whole = words[i].starts_with('/') || answer.folder.empty();
            work.emplace_back(FileChanged{
                is_whole ? std::string(words[i]) : std::string(answer.folder) + "/" + std::string(words[i]),
                FileChange::deleted, std::nullopt});
        }
    }
}

std::int64_t count_in(const JsonPart& part) {
    return std::max<std::int64_t>(0, part.integer().value_or(0));
}

/// A number of dollars in millionths.
std::int64_t millionths(const JsonPart& part) {
    constexpr double most = 1e12;
    double value = 0;
    const auto read = std::from_chars(part.text.data(), part.text.data() + part.text.size(), value);
    const bool is_amount =
        part.type == JsonPart::Type::number && read.ec == std::errc{} && value > 0 && value < most;
    return is_amount ? std::llround(value * 1e6) : 0;
}

}  // namespace

void add_shell_work(std::vector<Work>& work, const ShellAnswer& answer, const JsonPart& exit_code) {
    const auto code = exit_code.integer();
    const bool has_ended = !answer.id.empty() && code && *code >= std::numeric_limits<int>::min() &&
                           *code <= std::numeric_limits<int>::max();
    if (has_ended)
        work.emplace_back(CommandEnded{std::string(answer.id), static_cast<int>(*code),
                                       std::string(answer.command), kept_output(answer.output),
                                       std::string(answer.folder)});
    if (has_ended && *code == 0) add_removed_files(work, answer);
    for (auto& report : git_reports(answer.command, answer.output))
        work.emplace_back(BranchMoved{std::move(report.branch), std::move(report.hash), report.is_pushed});
    add_requests(work, requests_made_by_command(answer.command, answer.output));
}

FileChanged file_change(std::string_view path, const JsonPart& answer) {
    const JsonPart& before = answer["prev_exist"];
    const bool is_new = before.type == JsonPart::Type::boolean && !before.is_true();
    FileChanged changed{std::string(path), is_new ? FileChange::created : FileChange::edited, std::nullopt};
    const auto old_content = answer["old_content"].string();
    const auto new_content = answer["new_content"].string();
    if (new_content && (old_content || is_new))
        changed.lines = line_change(old_content.value_or(std::string_view()), *new_content);
    return changed;
}

void add_usage(UsageTold& usage, const JsonPart& metrics) {
    const JsonPart& tokens = metrics["accumulated_token_usage"];
    usage.cost += millionths(metrics["accumulated_cost"]);
    usage.tokens_in += count_in(tokens["prompt_tokens"]);
    usage.tokens_out += count_in(tokens["completion_tokens"]);
}

WantedPart wanted_of_usage(std::string_view name) {
    return {name,
            {{"accumulated_cost"}, {"accumulated_token_usage", {{"prompt_tokens"}, {"completion_tokens"}}}}};
}

}  // namespace epilogue
