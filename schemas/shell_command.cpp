#include "schemas/shell_command.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view blanks = " \t\n\r";

template <class Names>
bool is_among(std::string_view word, const Names& names) {
    return std::ranges::find(names, word) != std::ranges::end(names);
}

/// Reads a command from its beginning to its end.
class ChainReader {
  public:
    explicit ChainReader(std::string_view command) : rest_(command) {}

    std::vector<SimpleCommand> chain() && {
        while (!rest_.empty()) step();
        take("");
        return std::move(chain_);
    }

  private:
    void step() {
        const char c = rest_.front();
        if (quote_ != '\0') return in_quotes(c);
        if (c == '\'' || c == '"') quote_ = c;
        if (c == '\\' && rest_.size() > 1) return keep(2);
        if (rest_.starts_with("<<") && !rest_.starts_with("<<<")) note_here_document();
        if (rest_.starts_with("&&") || rest_.starts_with("||")) return separate(2);
        if (c == '\n') return end_line();
        if (c == '|' || c == ';') return separate(1);
        const bool redirects = part_.ends_with('>') || rest_.starts_with("&>");
        if (c == '&' && !redirects) return separate(1);
        keep(1);
    }
    void in_quotes(char c) {
        if (c == quote_) quote_ = '\0';
        keep(c == '\\' && quote_ == '"' && rest_.size() > 1 ? 2 : 1);
    }
    void keep(std::size_t count) {
        part_ += rest_.substr(0, count);
        rest_.remove_prefix(count);
    }
    void separate(std::size_t length) {
        take(rest_.substr(0, length));
        rest_.remove_prefix(length);
    }
    void take(std::string_view after) {
        if (const auto text = trimmed(part_); !text.empty())
            chain_.push_back({std::string(text), std::string(after)});
        part_.clear();
    }
    /// `<<EOF`: the lines behind this one are text, up to that word.
    void note_here_document() {
        auto word = rest_.substr(2);
        word = word.substr(std::min(word.find_first_not_of("- \t"), word.size()));
        word = word.substr(0, word.find_first_of(" \t\n;|&>"));
        until_ = replaced(replaced(word, "'", ""), "\"", "");
    }
    void end_line() {
        take(";");
        rest_.remove_prefix(1);
        if (until_.empty()) return;
        while (!rest_.empty()) {
            const auto line = rest_.substr(0, rest_.find('\n'));
            rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
            if (trimmed(line) == until_) break;
        }
        until_.clear();
    }

    std::string_view rest_;
    std::string part_;
    char quote_ = '\0';
    std::string until_;  ///< the word that ends the here-document of this line
    std::vector<SimpleCommand> chain_;
};

/// Whether the word is an assignment, NAME=value.
bool assigns(std::string_view word) {
    const auto name = word.substr(0, word.find('='));
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    return name.size() < word.size() && !name.empty() && name.find_first_not_of(allowed) == std::string::npos;
}

/// Where the first redirection begins, such as `>f`, `2>&1` or `<f`; npos: nowhere.
std::size_t redirection_in(std::string_view text) {
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0') {
            if (c == quote) quote = '\0';
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '>' || c == '<') {
            const bool has_number =
                i > 0 && (text[i - 1] == '&' || (text[i - 1] >= '0' && text[i - 1] <= '9'));
            return has_number ? i - 1 : i;
        }
    }
    return std::string_view::npos;
}

}  // namespace

std::vector<SimpleCommand> chain_of(std::string_view command) {
    return ChainReader(command).chain();
}

ShellWords words_of(std::string_view command) {
    constexpr std::string_view around = " \t\n\r()";
    constexpr std::string_view quotes = "'\"";
    ShellWords words;
    while (true) {
        const auto begin = command.find_first_not_of(around);
        if (begin == std::string_view::npos) return words;
        const auto end = std::min(command.find_first_of(around, begin), command.size());
        auto word = command.substr(begin, end - begin);
        while (!word.empty() && quotes.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
        while (!word.empty() && quotes.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
        if (!word.empty()) words.push_back(word);
        command.remove_prefix(end);
    }
}

ShellWords bare_words(const ShellWords& words) {
    constexpr std::array<std::string_view, 4> wrappers{"sudo", "env", "time", "exec"};
    constexpr std::array<std::string_view, 4> take_a_word{"-C", "-c", "-R", "--repo"};
    ShellWords bare;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool is_before =
            bare.empty() && (words[i].find('=') != std::string_view::npos || is_among(words[i], wrappers));
        if (is_before) continue;
        if (!words[i].starts_with('-'))
            bare.push_back(words[i]);
        else if (is_among(words[i], take_a_word))
            ++i;
    }
    return bare;
}

std::string plain_command(std::string_view text) {
    text = trimmed(text.substr(0, redirection_in(text)));
    while (true) {
        const auto word = text.substr(0, text.find_first_of(blanks));
        if (word.size() == text.size() || !assigns(word)) return std::string(text);
        text = trimmed(text.substr(word.size()));
    }
}

}  // namespace epilogue
