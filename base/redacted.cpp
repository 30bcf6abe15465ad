#include "base/redacted.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/decoded_text.h"
#include "base/graphemes.h"
#include "base/secret_rules.h"
#include "base/secret_scan.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view mask_start = "«";
constexpr std::string_view mask_end = " removed»";
constexpr std::string_view mark_start = "\n\n… (";
constexpr std::string_view mark_end = " more characters)";
constexpr std::string_view mark_end_of_one = " more character)";

bool is_inside_code_point(std::string_view text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

/// What is found in `text` as it stands and as its reader gets it, in order, apart from each other.
std::vector<FoundSecret> secrets_in(std::string_view text) {
    constexpr int encodings = 2;  ///< one within the other
    auto found = find_secrets(text);
    auto view = decoded_text(text);
    for (int i = 0; i < encodings && view.text != text; ++i) {
        for (auto secret : find_secrets(view.text)) {
            secret.end = view.origin[secret.end - 1].end;
            secret.begin = view.origin[secret.begin].begin;
            found.push_back(secret);
        }
        auto next = decoded_text(view.text);
        if (next.text == view.text) break;
        for (auto& [begin, end] : next.origin) {
            end = view.origin[end - 1].end;
            begin = view.origin[begin].begin;
        }
        view = std::move(next);
    }
    std::sort(found.begin(), found.end(),
              [](const FoundSecret& a, const FoundSecret& b) { return a.begin < b.begin; });
    std::vector<FoundSecret> apart;
    for (const auto& secret : found) {
        if (apart.empty() || secret.begin >= apart.back().end) {
            apart.push_back(secret);
            continue;
        }
        auto& known = apart.back();
        known.end = std::max(known.end, secret.end);
        if (known.is_vague && !secret.is_vague) {
            known.name = secret.name;
            known.is_vague = false;
        }
    }
    return apart;
}

std::string masked(std::string_view text, const std::vector<FoundSecret>& secrets) {
    std::string result;
    result.reserve(text.size());
    std::size_t taken = 0;
    for (auto [begin, end, name, is_vague] : secrets) {
        while (is_inside_code_point(text, begin)) --begin;
        while (is_inside_code_point(text, end)) ++end;
        if (begin < taken) continue;
        result += text.substr(taken, begin - taken);
        result += mask_start;
        result += name;
        result += mask_end;
        taken = end;
    }
    return result += text.substr(taken);
}

}  // namespace

std::string redacted(std::string_view text) {
    // What is taken out may lay bare what a rule did not see beside it.
    constexpr int rounds = 8;
    std::string result(text);
    for (int i = 0; i < rounds; ++i) {
        const auto secrets = secrets_in(result);
        if (secrets.empty()) break;
        result = masked(result, secrets);
    }
    return result;
}

namespace {

struct Beginning {
    std::string text;         ///< without secrets
    std::size_t missing = 0;  ///< code points behind it
};

/// As much of `text` as decides about its first `max_bytes`.
Beginning beginning_of(std::string_view text, std::size_t max_bytes) {
    const auto read = prefix_of(text, max_bytes + longest_secret);
    Beginning beginning{redacted(read), code_points(text.substr(read.size()))};
    if (read.size() == text.size()) return beginning;
    // Its end may be half of a secret, which is not known as one.
    const std::size_t sure = beginning.text.size() - std::min(beginning.text.size(), longest_secret);
    const auto whole = prefix_of(beginning.text, sure).size();
    beginning.missing += code_points(std::string_view(beginning.text).substr(whole));
    beginning.text.resize(whole);
    return beginning;
}

}  // namespace

std::string redacted_prefix(std::string_view text, std::size_t max_bytes) {
    auto result = beginning_of(text, max_bytes).text;
    result.resize(prefix_of(result, max_bytes).size());
    return result;
}

std::string redacted_words(std::string_view text, std::size_t max_bytes) {
    constexpr std::size_t longest_mark = 60;
    auto [beginning, missing] = beginning_of(text, max_bytes);
    if (missing == 0 && beginning.size() <= max_bytes) return beginning;
    const auto kept = whole_words(beginning, max_bytes - longest_mark);
    missing += code_points(beginning) - code_points(kept);
    return fmt::format("{}{}{}{}", kept, mark_start, missing, missing == 1 ? mark_end_of_one : mark_end);
}

}  // namespace epilogue
