#include "ops/embedded_demo/verifier.h"

#include <algorithm>
#include <string_view>

namespace epilogue::demo {
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

bool reports(const Post& post, const ExpectedTurn& turn) {
    const std::string_view headline = std::string_view(post.text).substr(0, post.text.find('\n'));
    return headline.find("**" + turn.headline + "**") != std::string_view::npos &&
           headline.find(turn.error_code) != std::string_view::npos && holds_words(post.text, turn.words);
}

std::string line_of(const Scenario& scenario, const ExpectedTurn& turn) {
    return name_of(scenario.place) + ": " + turn.headline +
           (turn.error_code.empty() ? "" : ": " + turn.error_code);
}

}  // namespace

Verifier::Verifier(const std::vector<Scenario>& scenarios) {
    for (const Scenario& scenario : scenarios)
        for (std::size_t turn = 0; turn < scenario.turns.size(); ++turn) lines_.push_back({&scenario, turn});
}

Match Verifier::add(const Post& post) {
    ++posts_;
    Match result;
    Line* reported = nullptr;
    for (Line& line : lines_) {
        if (name_of(line.scenario->place) != post.place) continue;
        result.scenario = line.scenario;
        if (!reports(post, line.scenario->turns[line.turn])) continue;
        if (reported == nullptr || reported->reported) reported = &line;
    }
    if (reported == nullptr) {
        unexpected_.push_back(post.place + ": " + post.text.substr(0, post.text.find('\n')));
        return result;
    }
    result.turn = reported->turn;
    result.again = reported->reported;
    if (reported->reported)
        duplicates_.push_back(line_of(*reported->scenario, reported->scenario->turns[reported->turn]));
    reported->reported = true;
    return result;
}

std::size_t Verifier::turns() const {
    return lines_.size();
}

std::size_t Verifier::reported() const {
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(), [](const Line& line) { return line.reported; }));
}

std::vector<std::string> Verifier::lost() const {
    std::vector<std::string> lost;
    for (const Line& line : lines_)
        if (!line.reported) lost.push_back(line_of(*line.scenario, line.scenario->turns[line.turn]));
    return lost;
}

}  // namespace epilogue::demo
