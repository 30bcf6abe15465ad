#include "base/secret_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/secret_rules.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr int most_groups = 40;              ///< a pattern of gitleaks' has 35
constexpr std::size_t before_keyword = 128;  ///< so far before a keyword its secret's form may begin

constexpr auto lower = [] {
    std::array<unsigned char, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<unsigned char>(i >= 'A' && i <= 'Z' ? i + ('a' - 'A') : i);
    return table;
}();
unsigned char lower_at(std::string_view text, std::size_t i) {
    return lower[static_cast<unsigned char>(text[i])];
}

/// All keywords of all rules, found in one pass over a text.
class Keywords {
  public:
    explicit Keywords(const std::vector<SecretRule>& rules) {
        for (std::size_t rule = 0; rule < rules.size(); ++rule)
            for (const auto& keyword : rules[rule].keywords) {
                auto& known = buckets_[start_of(keyword, 0)];
                const auto same = std::find_if(known.begin(), known.end(),
                                               [&](const Keyword& one) { return one.text == keyword; });
                if (same == known.end())
                    known.push_back({keyword, {rule}});
                else
                    same->rules.push_back(rule);
            }
    }

    /// Calls `visit(rule, place)` for each rule of each keyword in `text`, place by place.
    template <class Visit>
    void each(std::string_view text, const Visit& visit) const {
        for (std::size_t i = 0; i + 1 < text.size(); ++i) {
            const auto& known = buckets_[start_of(text, i)];
            if (known.empty()) continue;
            for (const auto& keyword : known)
                if (stands_at(text, i, keyword.text))
                    for (const std::size_t rule : keyword.rules) visit(rule, i);
        }
    }

  private:
    struct Keyword {
        std::string text;
        std::vector<std::size_t> rules;
    };

    static std::size_t start_of(std::string_view text, std::size_t i) {
        return static_cast<std::size_t>(lower_at(text, i)) << 8U | lower_at(text, i + 1);
    }
    static bool stands_at(std::string_view text, std::size_t i, std::string_view keyword) {
        if (text.size() - i < keyword.size()) return false;
        for (std::size_t k = 2; k < keyword.size(); ++k)
            if (lower_at(text, i + k) != static_cast<unsigned char>(keyword[k])) return false;
        return true;
    }

    std::vector<std::vector<Keyword>> buckets_ = std::vector<std::vector<Keyword>>(std::size_t{1} << 16U);
};

/// Shannon's, in bits a byte.
double entropy_of(std::string_view text) {
    std::array<std::size_t, 256> counts{};
    for (const char c : text) ++counts[static_cast<unsigned char>(c)];
    double entropy = 0;
    for (const std::size_t count : counts) {
        if (count == 0) continue;
        const double share = static_cast<double>(count) / static_cast<double>(text.size());
        entropy -= share * std::log2(share);
    }
    return entropy;
}

std::string_view view_of(const re2::StringPiece& piece) {
    return {piece.data(), piece.size()};
}

bool is_allowed(const Allowlist& list, std::string_view text, std::string_view match,
                std::string_view secret) {
    auto target = list.target == Allowlist::Target::match ? match : secret;
    if (list.target == Allowlist::Target::line) {
        constexpr std::size_t longest_line = 512;  // around the match
        const auto at = static_cast<std::size_t>(match.data() - text.data());
        const auto end = at + match.size();
        const auto first = text.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
        const auto last = std::min(text.find('\n', end), text.size());
        const auto begin = std::max(first, at - std::min(at, longest_line));
        target = text.substr(begin, std::min(last, end + longest_line) - begin);
    }
    const re2::StringPiece piece(target.data(), target.size());
    if (std::any_of(list.patterns.begin(), list.patterns.end(),
                    [&](const auto* pattern) { return RE2::PartialMatch(piece, pattern->get()); }))
        return true;
    if (list.stop_words.empty()) return false;
    const auto lower_case = lowered(secret);
    return std::any_of(list.stop_words.begin(), list.stop_words.end(),
                       [&](const auto& word) { return lower_case.find(word) != std::string::npos; });
}

/// One rule in one text.
class RuleScan {
  public:
    RuleScan(const SecretRule& rule, std::string_view text, std::vector<FoundSecret>& found)
        : rule_(&rule), text_(text), found_(&found), groups_(rule.pattern->get().NumberOfCapturingGroups()) {}

    /// Everything that begins in [begin, end) and ends there.
    void look_in(std::size_t begin, std::size_t end) {
        const re2::StringPiece piece(text_.data(), text_.size());
        std::array<re2::StringPiece, most_groups> parts;
        const int count = std::min(groups_ + 1, most_groups);
        while (begin < end &&
               rule_->pattern->get().Match(piece, begin, end, RE2::UNANCHORED, parts.data(), count)) {
            const auto match = view_of(parts[0]);
            const auto secret = secret_of(parts.data(), count);
            if (!secret.empty() && is_secret(match, secret)) {
                const auto at = static_cast<std::size_t>(secret.data() - text_.data());
                found_->push_back({at, at + secret.size(), rule_->name, rule_->is_vague});
            }
            const auto behind = static_cast<std::size_t>(match.data() - text_.data()) + match.size();
            begin = std::max(behind, begin + 1);
        }
    }

  private:
    std::string_view secret_of(const re2::StringPiece* parts, int count) const {
        // Named groups are parts of the secret, not the secret.
        if (count == 1 || !rule_->pattern->get().NamedCapturingGroups().empty()) return view_of(parts[0]);
        if (rule_->group > 0) return rule_->group < count ? view_of(parts[rule_->group]) : std::string_view{};
        for (int i = 1; i < count; ++i)
            if (!parts[i].empty()) return view_of(parts[i]);
        return view_of(parts[0]);
    }

    bool is_secret(std::string_view match, std::string_view secret) const {
        if (rule_->entropy > 0 && entropy_of(secret) <= rule_->entropy) return false;
        return std::none_of(rule_->allowed.begin(), rule_->allowed.end(),
                            [&](const Allowlist& list) { return is_allowed(list, text_, match, secret); });
    }

    const SecretRule* rule_;
    std::string_view text_;
    std::vector<FoundSecret>* found_;
    int groups_;
};

struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;  ///< 0: none
};

}  // namespace

std::vector<FoundSecret> find_secrets(std::string_view text) {
    const auto& rules = secret_rules().all;
    static const Keywords keywords(rules);
    std::vector<FoundSecret> found;
    // Around its keywords each rule looks at every place at most once.
    std::vector<Stretch> stretches(rules.size());
    const auto look = [&](std::size_t rule) {
        RuleScan(rules[rule], text, found).look_in(stretches[rule].begin, stretches[rule].end);
    };
    keywords.each(text, [&](std::size_t rule, std::size_t place) {
        auto& stretch = stretches[rule];
        const std::size_t begin = place - std::min(place, before_keyword);
        const std::size_t end = std::min(place + rules[rule].reach, text.size());
        if (stretch.end == 0 || begin > stretch.end) {
            if (stretch.end != 0) look(rule);
            stretch.begin = begin;
        }
        stretch.end = end;
    });
    for (std::size_t rule = 0; rule < rules.size(); ++rule)
        if (stretches[rule].end != 0) look(rule);
    return found;
}

}  // namespace epilogue
