#include "ops/embedded_demo/verifier.h"

#include <algorithm>
#include <string_view>

namespace epilogue::embedded {
namespace {

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether `text` holds the words of `wanted` in their order. Marks between them may differ: what could call
/// people or break out of a comment is changed on the way.
bool holds_words(std::string_view text, std::string_view wanted) {
    while (!wanted.empty()) {
        const auto* const end = std::find_if_not(wanted.begin(), wanted.end(), is_letter_or_digit);
        const std::string_view word = wanted.substr(0, static_cast<std::size_t>(end - wanted.begin()));
        const std::size_t at = text.find(word);
        if (at == std::string_view::npos) return false;
        text.remove_prefix(at + word.size());
        wanted.remove_prefix(word.empty() ? 1 : word.size());
    }
    return true;
}

bool tells(const Post& post, const ExpectedTurn& turn) {
    const std::string_view headline = std::string_view(post.text).substr(0, post.text.find('\n'));
    return headline.find("**" + turn.headline + "**") != std::string_view::npos &&
           headline.find(turn.error_code) != std::string_view::npos && holds_words(post.text, turn.words);
}

std::string line_of(const Story& story, const ExpectedTurn& turn) {
    return name_of(story.place) + ": " + turn.headline +
           (turn.error_code.empty() ? "" : ": " + turn.error_code);
}

}  // namespace

Audit::Audit(const std::vector<Story>& stories) {
    for (const Story& story : stories)
        for (std::size_t turn = 0; turn < story.turns.size(); ++turn) lines_.push_back({&story, turn});
}

Told Audit::add(const Post& post) {
    ++posts_;
    Told result;
    Line* told = nullptr;
    for (Line& line : lines_) {
        if (name_of(line.story->place) != post.place) continue;
        result.story = line.story;
        if (!tells(post, line.story->turns[line.turn])) continue;
        if (told == nullptr || told->told) told = &line;
    }
    if (told == nullptr) {
        strangers_.push_back(post.place + ": " + post.text.substr(0, post.text.find('\n')));
        return result;
    }
    result.turn = told->turn;
    result.again = told->told;
    if (told->told) duplicates_.push_back(line_of(*told->story, told->story->turns[told->turn]));
    told->told = true;
    return result;
}

std::size_t Audit::turns() const {
    return lines_.size();
}

std::size_t Audit::told() const {
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(), [](const Line& line) { return line.told; }));
}

std::vector<std::string> Audit::lost() const {
    std::vector<std::string> lost;
    for (const Line& line : lines_)
        if (!line.told) lost.push_back(line_of(*line.story, line.story->turns[line.turn]));
    return lost;
}

}  // namespace epilogue::embedded
