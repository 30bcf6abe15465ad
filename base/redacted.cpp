#include "base/redacted.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::string_view hex = "0123456789abcdefABCDEF";
constexpr std::string_view alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr std::string_view dotted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
constexpr std::string_view base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-.~%";

/// Whether a character is one of those. Every character of every word is asked about: a table is quickest.
constexpr std::array<bool, 256> table_of(std::string_view characters) {
    std::array<bool, 256> table{};
    for (const char c : characters) table[static_cast<unsigned char>(c)] = true;
    return table;
}
constexpr auto alnum_table = table_of(alnum);
constexpr auto word_table = table_of(word);
bool in(const std::array<bool, 256>& table, char c) {
    return table[static_cast<unsigned char>(c)];
}

/// A token that says by its first letters whose it is.
struct Form {
    std::string_view prefix;
    std::string_view alphabet;  ///< of what follows
    std::size_t at_least;       ///< so many characters must follow, one of them a digit
    std::string_view name;
};

constexpr std::array<Form, 60> forms{{
    {"ghp_", alnum, 30, "GitHub token"},
    {"gho_", alnum, 30, "GitHub token"},
    {"ghu_", alnum, 30, "GitHub token"},
    {"ghs_", alnum, 30, "GitHub token"},
    {"ghr_", alnum, 30, "GitHub token"},
    {"github_pat_", word, 22, "GitHub token"},
    {"glpat-", dotted, 20, "GitLab token"},
    {"gldt-", dotted, 20, "GitLab token"},
    {"glrt-", dotted, 20, "GitLab token"},
    {"glcbt-", dotted, 20, "GitLab token"},
    {"glptt-", dotted, 20, "GitLab token"},
    {"glsoat-", dotted, 20, "GitLab token"},
    {"glagent-", dotted, 20, "GitLab token"},
    {"xoxb-", word, 10, "Slack token"},
    {"xoxp-", word, 10, "Slack token"},
    {"xoxa-", word, 10, "Slack token"},
    {"xoxr-", word, 10, "Slack token"},
    {"xoxs-", word, 10, "Slack token"},
    {"xoxc-", word, 10, "Slack token"},
    {"xoxd-", base64, 10, "Slack token"},
    {"xoxe.", dotted, 10, "Slack token"},
    {"xoxe-", word, 10, "Slack token"},
    {"xapp-", word, 10, "Slack token"},
    {"hooks.slack.com/services/", base64, 20, "Slack webhook"},
    {"AKIA", upper, 16, "AWS key"},
    {"ASIA", upper, 16, "AWS key"},
    {"sk-", word, 20, "API key"},
    {"sk_live_", alnum, 16, "Stripe key"},
    {"sk_test_", alnum, 16, "Stripe key"},
    {"rk_live_", alnum, 16, "Stripe key"},
    {"whsec_", base64, 20, "webhook secret"},
    {"AIza", word, 30, "Google key"},
    {"ya29.", dotted, 20, "Google token"},
    {"GOCSPX-", word, 20, "Google secret"},
    {"npm_", alnum, 30, "npm token"},
    {"pypi-", word, 40, "PyPI token"},
    {"dckr_pat_", word, 20, "Docker token"},
    {"SG.", dotted, 40, "SendGrid key"},
    {"hf_", alnum, 30, "Hugging Face token"},
    {"gsk_", alnum, 40, "API key"},
    {"r8_", alnum, 30, "API key"},
    {"xai-", alnum, 40, "API key"},
    {"pplx-", alnum, 30, "API key"},
    {"dop_v1_", hex, 40, "DigitalOcean token"},
    {"doo_v1_", hex, 40, "DigitalOcean token"},
    {"shpat_", hex, 30, "Shopify token"},
    {"shpss_", hex, 30, "Shopify token"},
    {"dapi", hex, 32, "Databricks token"},
    {"hvs.", word, 20, "Vault token"},
    {"lin_api_", alnum, 30, "Linear key"},
    {"ntn_", alnum, 40, "Notion token"},
    {"figd_", word, 30, "Figma token"},
    {"PMAK-", word, 40, "Postman key"},
    {"NRAK-", alnum, 20, "New Relic key"},
    {"sq0atp-", word, 20, "Square token"},
    {"AGE-SECRET-KEY-1", upper, 40, "age key"},
    {"key-", hex, 32, "API key"},
    {"gAAAAA", base64, 60, "sealed secret"},
    {"ATATT3", base64, 40, "Atlassian token"},
    {"sntrys_", base64, 40, "Sentry token"},
}};

/// Names whose value is a secret, in lower case, words apart by '_'.
constexpr std::array<std::string_view, 14> secret_names{
    "session_api_key", "x_session_api_key", "api_key",       "apikey",        "access_token",
    "refresh_token",   "auth_token",        "client_secret", "secret_key",    "secret_access_key",
    "private_token",   "password",          "passwd",        "authorization",
};

/// What is to be replaced, and by which name.
struct Find {
    std::size_t begin;
    std::size_t end;
    std::string_view name;
};

/// Where the run of `alphabet` that starts at `from` ends. No secret is longer than what it looks at: this
/// keeps the whole linear.
std::size_t run_of(std::string_view alphabet, std::string_view text, std::size_t from,
                   std::size_t longest = 4096) {
    const auto seen = text.substr(0, from + longest);
    return std::min(seen.find_first_not_of(alphabet, from), seen.size());
}
bool has_digit(std::string_view text) {
    return text.find_first_of("0123456789") != std::string_view::npos;
}

/// The letters with which forms begin, and how long each token is at least: most words are done with here.
constexpr auto first_letters = [] {
    std::array<bool, 256> table{};
    for (const auto& form : forms) table[static_cast<unsigned char>(form.prefix[0])] = true;
    return table;
}();
constexpr std::size_t shortest_token = [] {
    std::size_t shortest = forms[0].prefix.size() + forms[0].at_least;
    for (const auto& form : forms) shortest = std::min(shortest, form.prefix.size() + form.at_least);
    return shortest;
}();

bool may_be_token(std::string_view text, std::size_t at) {
    const auto start = text.substr(at, shortest_token);
    return in(first_letters, text[at]) && start.size() == shortest_token &&
           start.find_first_of(" \n") == std::string_view::npos;
}

std::optional<Find> known_form(std::string_view text, std::size_t at) {
    if (!may_be_token(text, at)) return std::nullopt;
    for (const auto& form : forms) {
        if (text[at] != form.prefix[0] || !text.substr(at).starts_with(form.prefix)) continue;
        const std::size_t begin = at + form.prefix.size();
        std::size_t end = run_of(form.alphabet, text, begin);
        while (end > begin && text[end - 1] == '.') --end;  // that one ends the sentence
        if (end - begin >= form.at_least && has_digit(text.substr(begin, end - begin)))
            return Find{at, end, form.name};
    }
    return std::nullopt;
}

/// Three parts of base64url, of which the first two are JSON objects.
std::optional<Find> web_token(std::string_view text, std::size_t at) {
    constexpr std::string_view json_object = "eyJ";
    if (!text.substr(at).starts_with(json_object)) return std::nullopt;
    const std::size_t first = run_of(word, text, at);
    if (!text.substr(first).starts_with(".eyJ")) return std::nullopt;
    const std::size_t second = run_of(word, text, first + 1);
    const bool is_signed = second < text.size() && text[second] == '.';
    return Find{at, is_signed ? run_of(word, text, second + 1) : second, "web token"};
}

std::optional<Find> private_key(std::string_view text, std::size_t at) {
    constexpr std::string_view begin = "-----BEGIN ";
    constexpr std::string_view mark = "PRIVATE KEY";
    constexpr std::string_view dashes = "-----";
    const auto rest = text.substr(at);
    if (!rest.starts_with(begin)) return std::nullopt;
    const auto title = rest.substr(0, rest.find('\n')).substr(begin.size());
    const auto title_end = title.find(dashes);
    if (title_end == std::string_view::npos ||
        title.substr(0, title_end).find(mark) == std::string_view::npos)
        return std::nullopt;
    const std::size_t body = at + begin.size() + title_end + dashes.size();
    // `\n` may be spelled with a backslash, in JSON or a shell's line.
    const std::size_t end = std::min(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                                                            "wxyz0123456789+/= \t\n\\:,",
                                                            body),
                                     text.size());
    const auto tail = text.substr(end);
    const auto closing =
        tail.starts_with("-----END ") ? tail.find(dashes, dashes.size()) : std::string_view::npos;
    return Find{at, closing == std::string_view::npos ? end : end + closing + dashes.size(), "private key"};
}

/// "://user:password@": the password.
std::optional<Find> password_in_url(std::string_view text, std::size_t at) {
    constexpr std::string_view ends = " \t\n/@<>\"'`";
    if (!text.substr(at).starts_with("://")) return std::nullopt;
    const std::size_t colon = text.find_first_of(" \t\n/@<>\"'`:", at + 3);
    if (colon == std::string_view::npos || text[colon] != ':') return std::nullopt;
    const std::size_t end = text.find_first_of(ends, colon + 1);
    if (end == std::string_view::npos || text[end] != '@' || end == colon + 1) return std::nullopt;
    return Find{colon + 1, end, "password"};
}

/// "NAME = value" in code, configuration, headers and URLs: the value.
std::optional<Find> named_secret(std::string_view text, std::size_t at) {
    constexpr std::size_t longest_name = 24;
    constexpr std::size_t at_least = 8;
    std::size_t name_end = at;
    while (name_end < std::min(at + longest_name, text.size()) && in(word_table, text[name_end])) ++name_end;
    std::size_t i = std::min(text.find_first_not_of("\"'` \t", name_end), text.size());
    if (i == text.size() || (text[i] != '=' && text[i] != ':')) return std::nullopt;
    const auto name = replaced(lowered(text.substr(at, name_end - at)), "-", "_");
    if (std::find(secret_names.begin(), secret_names.end(), name) == secret_names.end()) return std::nullopt;
    i = std::min(text.find_first_not_of("\"'` \t", i + 1), text.size());
    for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "basic ", "token "})
        if (text.substr(i).starts_with(scheme)) i += scheme.size();
    const std::size_t end = run_of(base64, text, i);
    const auto value = text.substr(i, end - i);
    if (value.size() < at_least || !has_digit(value)) return std::nullopt;
    return Find{i, end, "secret"};
}

std::optional<Find> bearer(std::string_view text, std::size_t at) {
    constexpr std::string_view scheme = "bearer ";
    constexpr std::size_t at_least = 20;
    if (text[at] != 'b' && text[at] != 'B') return std::nullopt;
    if (lowered(text.substr(at, scheme.size())) != scheme) return std::nullopt;
    const std::size_t begin = at + scheme.size();
    const std::size_t end = run_of(base64, text, begin);
    const auto value = text.substr(begin, end - begin);
    if (value.size() < at_least || !has_digit(value)) return std::nullopt;
    return Find{begin, end, "secret"};
}

std::optional<Find> secret_at(std::string_view text, std::size_t at) {
    if (text[at] == ':') return password_in_url(text, at);
    if (text[at] == '-') return private_key(text, at);
    const bool inside_word = at > 0 && in(alnum_table, text[at - 1]);
    if (inside_word || !in(alnum_table, text[at])) return std::nullopt;
    for (const auto look : {known_form, web_token, named_secret, bearer})
        if (const auto found = look(text, at)) return found;
    return std::nullopt;
}

}  // namespace

std::string redacted(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    std::size_t taken = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto found = secret_at(text, i);
        if (!found) {
            ++i;
            continue;
        }
        result += text.substr(taken, found->begin - taken);
        result += "«" + std::string(found->name) + " removed»";
        i = taken = found->end;
    }
    result += text.substr(taken);
    return result;
}

std::string redacted_prefix(std::string_view text, std::size_t max_bytes) {
    constexpr std::size_t longest_secret = 4096;
    auto result = redacted(text.substr(0, max_bytes + longest_secret));
    result.resize(prefix_of(result, max_bytes).size());
    return result;
}

}  // namespace epilogue
