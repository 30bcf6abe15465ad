#include "sinks/format/neutralise.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "base/code_point.h"
#include "base/text.h"
#include "sinks/format/markdown.h"

namespace epilogue {
namespace {

constexpr std::string_view zero_width_space = "\xE2\x80\x8B";

/// Where zero-width spaces go, in any order, a place perhaps more than once.
using Places = std::vector<std::size_t>;

/// Beyond ASCII: what is no letter, digit or mark. Anything else may begin a name.
constexpr std::array<std::pair<char32_t, char32_t>, 8> signs{{
    {0x80, 0xA9},
    {0xAB, 0xB4},
    {0xB6, 0xB9},
    {0xBB, 0xBF},
    {0x2000, 0x2BFF},
    {0x3000, 0x303F},
    {0xFE00, 0xFE6F},
    {0x1F000, 0x1FAFF},
}};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_letter_or_digit(char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

/// The character at `i`, or 0 behind the end.
char at(std::string_view text, std::size_t i) {
    return i < text.size() ? text[i] : '\0';
}

bool starts_tag(std::string_view text, std::size_t i) {
    const char next = at(text, i + 1);
    return text[i] == '<' && (is_letter(next) || next == '/' || next == '!' || next == '?');
}

/// True for what may stand behind the dot with which a name begins, also when it is spelled otherwise.
bool may_go_on(char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == '&' || c == '\\' || c == '<' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// True when what follows an '@' could begin a name once rendered: a word character, an entity that stands
/// for one, or a tag that a platform takes out.
bool may_be_name(std::string_view after) {
    if (after.empty()) return false;
    const char next = after.front();
    if (static_cast<unsigned char>(next) >= 0x80) {
        const auto point = first_code_point(after).value.value_or(0x80);
        return std::none_of(signs.begin(), signs.end(),
                            [&](const auto& range) { return point >= range.first && point <= range.second; });
    }
    if (is_letter_or_digit(next) || next == '_') return true;
    if (next == '&') return at(after, 1) == '#' || is_letter(at(after, 1));
    if (next == '\\') return at(after, 1) == '_';     // Markdown drops the backslash
    if (next == '.') return may_go_on(at(after, 1));  // GitLab's groups may begin so
    return starts_tag(after, 0);
}

/// The `/` that starts a line of `text` at `start`, when it may be a command's; npos when there is none. What
/// mail programs and quotes put before it is no excuse.
std::size_t command_at(std::string_view text, std::size_t start) {
    const auto slash = text.find_first_not_of(" \t>", start);
    return slash != std::string_view::npos && text[slash] == '/' && is_letter(at(text, slash + 1))
               ? slash
               : std::string_view::npos;
}

/// The next of some characters behind a place. Asked for places in order: each character is looked at once.
class Next {
  public:
    Next(std::string_view text, std::string_view of) : text_(text), of_(of) {}
    /// The first one at `from` or behind it; npos when there is none.
    std::size_t after(std::size_t from) {
        if (!is_known_ || (found_ != std::string_view::npos && found_ < from))
            found_ = text_.find_first_of(of_, from);
        is_known_ = true;
        return found_;
    }

  private:
    std::string_view text_;
    std::string_view of_;
    std::size_t found_ = 0;
    bool is_known_ = false;
};

/// Slack's `<!here>`, `<@U1>`, `<#C1>`, and `<url|text>`.
bool is_slack_sequence(std::string_view text, std::size_t i, Next& stops, Next& colons) {
    const char next = at(text, i + 1);
    if (next == '!' || next == '@' || next == '#') return true;
    if (!is_letter(next)) return false;
    constexpr std::size_t longest = 4096;
    const auto stop = stops.after(i + 1);
    return stop != std::string_view::npos && stop < i + longest && text[stop] == '|' &&
           colons.after(i) < stop;
}

/// What every platform's plain reading of the source would act on, code or not.
Places acted_on(std::string_view text) {
    constexpr std::string_view line_separator = "\xE2\x80\xA8";
    constexpr std::string_view paragraph_separator = "\xE2\x80\xA9";
    Places places;
    Next stops(text, "|>\n");
    Next colons(text, ":");
    const auto line_starts = [&](std::size_t start) {
        if (const auto slash = command_at(text, start); slash != std::string_view::npos)
            places.push_back(slash);
    };
    line_starts(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto rest = text.substr(i);
        if (text[i] == '\n') line_starts(i + 1);
        if (rest.starts_with(line_separator) || rest.starts_with(paragraph_separator)) line_starts(i + 3);
        if (text[i] == '@' && may_be_name(rest.substr(1))) places.push_back(i + 1);
        if (text[i] == '<' && is_slack_sequence(text, i, stops, colons)) places.push_back(i + 1);
    }
    return places;
}

/// The code spans of a block, asked for from its beginning to its end.
class CodeSpans {
  public:
    explicit CodeSpans(std::string_view block) : block_(block) {}

    /// Where the code span that starts at the backticks at `i` ends, or where they do when it is none.
    std::size_t end_of(std::size_t i) {
        const std::size_t length = run_end(i) - i;
        if (never_closed_.contains(length)) return i + length;
        for (std::size_t open = block_.find('`', i + length); open != std::string_view::npos;) {
            const std::size_t end = run_end(open);
            if (end - open == length) return end;
            open = block_.find('`', end);
        }
        never_closed_.insert(length);
        return i + length;
    }

  private:
    std::size_t run_end(std::size_t from) const {
        return std::min(block_.find_first_not_of('`', from), block_.size());
    }

    std::string_view block_;
    std::set<std::size_t> never_closed_;  ///< runs so long have no other behind them
};

/// True when the info string of a fence may begin at `i`, however its first letter is written.
bool is_first_of_info(std::string_view text, std::size_t i) {
    constexpr std::string_view none = " \t\n`~";
    if (i == 0 || none.find(text[i]) != std::string_view::npos) return false;
    const auto before = text.find_last_not_of(" \t", i - 1);
    return before != std::string_view::npos && (text[before] == '`' || text[before] == '~');
}

/// Where to break the live thing of this kind, were there one at `i`; npos otherwise.
std::size_t break_of(Live kind, std::string_view text, std::size_t i) {
    const auto rest = text.substr(i);
    switch (kind) {
        case Live::html:
            if (starts_tag(text, i)) return i + 1;
            break;
        case Live::image:
            if (rest.starts_with("![")) return i + 1;
            break;
        case Live::link:
            if (rest.starts_with("](") || rest.starts_with("][")) return i + 1;
            break;
        case Live::autolink:
            if (starts_tag(text, i) || rest.starts_with("://")) return i + 1;
            if (rest.starts_with("www.")) return i + 3;
            break;
        case Live::fence:
            if (is_first_of_info(text, i)) return i;
            break;
    }
    return std::string_view::npos;
}

/// How much is broken for the sake of a live spot. The platform's parser says when it is enough.
enum class Thorough {
    outside_code,  ///< in its block, code spans spared
    block,         ///< in its block
    definitions,   ///< every link's definition
    everything,    ///< all kinds, in the whole text
};

void break_within(std::string_view text, std::size_t begin, std::size_t end, Live kind, bool spare_code,
                  Places& places) {
    const auto block = text.substr(0, end);
    CodeSpans spans(block);
    for (std::size_t i = begin; i < end; ++i) {
        if (spare_code && block[i] == '`') {
            i = spans.end_of(i) - 1;
            continue;
        }
        if (const auto place = break_of(kind, block, i); place != std::string_view::npos)
            places.push_back(place);
    }
}

void break_definitions(std::string_view text, Places& places) {
    for (auto i = text.find("]:"); i != std::string_view::npos; i = text.find("]:", i + 1))
        places.push_back(i + 1);
}

Places broken(std::string_view text, const std::vector<LiveSpot>& spots, Thorough thorough) {
    std::vector<std::size_t> lines{0};
    for (auto i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1))
        lines.push_back(i + 1);
    const auto line = [&](std::size_t number) { return number < lines.size() ? lines[number] : text.size(); };
    Places places;
    for (const auto& [kind, first, last] : spots) {
        if (thorough <= Thorough::block) {
            // A fence is alive in its first line; the code below it is only shown.
            const bool spare = thorough == Thorough::outside_code && kind != Live::fence;
            break_within(text, line(first), line(kind == Live::fence ? first + 1 : last + 1), kind, spare,
                         places);
        }
    }
    if (thorough >= Thorough::definitions) break_definitions(text, places);
    if (thorough == Thorough::everything)
        for (const auto kind : {Live::html, Live::image, Live::link, Live::autolink, Live::fence})
            break_within(text, 0, text.size(), kind, false, places);
    return places;
}

/// Every `![`, code or not, when there are very many. cmark-gfm 0.29.0.gfm.6, Debian 12's, takes time that
/// grows with the square of the number of images that are open at the same time (CVE-2023-22486).
void break_many_images(std::string_view text, Places& places) {
    constexpr std::string_view opening = "![";
    constexpr std::size_t many = 500;
    Places all;
    for (auto i = text.find(opening); i != std::string_view::npos; i = text.find(opening, i + 1))
        all.push_back(i + 1);
    if (all.size() > many) places.insert(places.end(), all.begin(), all.end());
}

std::string with_breaks(std::string_view text, Places& places) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    std::string result;
    result.reserve(text.size() + places.size() * zero_width_space.size());
    std::size_t from = 0;
    for (const std::size_t place : places) {
        result += text.substr(from, place - from);
        result += zero_width_space;
        from = place;
    }
    return result += text.substr(from);
}

}  // namespace

std::string neutralise(std::string_view text) {
    constexpr int max_rounds = 8;  ///< each may lay bare what the last one's break had hidden
    auto places = acted_on(text);
    break_many_images(text, places);
    auto result = with_breaks(text, places);
    auto thorough = Thorough::outside_code;
    for (int round = 1;; ++round) {
        const auto spots = live_spots(result);
        if (spots.empty() || round > 2 * max_rounds) return result;
        if (round == max_rounds) thorough = Thorough::everything;
        places = broken(result, spots, thorough);
        while (places.empty() && thorough != Thorough::everything) {
            thorough = static_cast<Thorough>(static_cast<int>(thorough) + 1);
            places = broken(result, spots, thorough);
        }
        if (places.empty()) return result;
        result = with_breaks(result, places);
    }
}

}  // namespace epilogue
