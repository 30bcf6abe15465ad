#include "base/secret_rules.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <toml++/toml.h>

#include "base/secret_rules_text.h"
#include "base/text.h"

namespace epilogue {
namespace {

/// With this gitleaks' patterns of "NAME = value" begin; their values are 150 characters at most.
constexpr std::string_view any_name = R"([\w.-]{0,50}?)";
constexpr std::size_t longest_assignment = 512;

std::string text_at(const toml::table& table, std::string_view key) {
    return table[key].value_or(std::string{});
}

std::vector<std::string> texts_at(const toml::table& table, std::string_view key) {
    std::vector<std::string> texts;
    if (const auto* const list = table[key].as_array())
        for (const auto& one : *list) texts.push_back(one.value_or(std::string{}));
    return texts;
}

std::vector<std::string> words_at(const toml::table& table, std::string_view key) {
    auto words = texts_at(table, key);
    for (auto& one : words) one = lowered(one);
    return words;
}

bool is_too_short(const std::string& keyword) {
    return keyword.size() < 2;
}

/// The tables of an array of tables, or none.
template <class Visit>
void each_table(const toml::table& table, std::string_view key, const Visit& visit) {
    if (const auto* const list = table[key].as_array())
        for (const auto& one : *list)
            if (const auto* const inner = one.as_table()) visit(*inner);
}

class Reader {
  public:
    /// `names`: what a rule is called in place of its id.
    Reader(SecretRules& rules, const toml::table& names) : rules_(rules), names_(names) {}

    /// The rules of one file, with what `more` allows beside its own lists. Those that look at files' names
    /// are left out: a text has none.
    void read(const toml::table& file, const toml::table& more = {}) {
        std::vector<Allowlist> for_all;
        if (const auto* const list = file["allowlist"].as_table()) for_all.push_back(allowlist(*list));
        each_table(file, "rules", [&](const toml::table& table) {
            if (table.contains("path") || !table.contains("regex")) return;
            SecretRule rule;
            rule.name = name_of(text_at(table, "id"), names_);
            auto source = text_at(table, "regex");
            rule.reach = source.find(any_name) == std::string::npos ? longest_secret : longest_assignment;
            rule.pattern = pattern(std::move(source));
            rule.keywords = words_at(table, "keywords");
            if (std::any_of(rule.keywords.begin(), rule.keywords.end(), is_too_short))
                throw std::logic_error("a rule for secrets has a keyword of one letter: " + rule.name);
            rule.entropy = table["entropy"].value_or(0.0);
            rule.group = table["secretGroup"].value_or(0);
            rule.is_vague = rule.name == "secret" || rule.name == "password";
            rule.allowed = for_all;
            each_table(more, "allowlists", [&](const toml::table& list) {
                const auto rules = texts_at(list, "targetRules");
                if (std::find(rules.begin(), rules.end(), text_at(table, "id")) != rules.end())
                    rule.allowed.push_back(allowlist(list));
            });
            each_table(table, "allowlists", [&](const toml::table& list) {
                // "AND" with a file's name is never fulfilled.
                if (text_at(list, "condition") != "AND") rule.allowed.push_back(allowlist(list));
            });
            rules_.all.push_back(std::move(rule));
        });
    }

  private:
    const LazyPattern* pattern(std::string source) {
        return &rules_.patterns.emplace_back(std::move(source));
    }

    Allowlist allowlist(const toml::table& table) {
        Allowlist list;
        const auto target = text_at(table, "regexTarget");
        list.target = target == "match"  ? Allowlist::Target::match
                      : target == "line" ? Allowlist::Target::line
                                         : Allowlist::Target::secret;
        for (auto& source : texts_at(table, "regexes")) list.patterns.push_back(pattern(std::move(source)));
        list.stop_words = words_at(table, "stopwords");
        return list;
    }

    /// What `names` says of the longest beginning of `id`; else the id in words.
    static std::string name_of(const std::string& id, const toml::table& names) {
        std::string name = replaced(id, "-", " ");
        std::size_t longest = 0;
        for (const auto& [start, said] : names) {
            if (start.str().size() <= longest || !id.starts_with(start.str())) continue;
            longest = start.str().size();
            name = said.value_or(name);
        }
        return name;
    }

    SecretRules& rules_;
    const toml::table& names_;
};

}  // namespace

const RE2& LazyPattern::get() const {
    std::call_once(once_, [this] {
        constexpr std::int64_t memory = std::int64_t{4} << 20U;
        RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(memory);
        auto compiled = std::make_unique<RE2>(source_, options);
        if (!compiled->ok()) throw std::logic_error("a rule for secrets is invalid: " + compiled->error());
        compiled_ = std::move(compiled);
    });
    return *compiled_;
}

const SecretRules& secret_rules() {
    static const SecretRules& rules = []() -> const SecretRules& {
        auto* const read = new SecretRules;  // never destroyed: threads may still look when the process ends
        const toml::table own = toml::parse(own_secret_rules);
        Reader reader(*read, *own["names"].as_table());
        reader.read(toml::parse(gitleaks_rules), *own["gitleaks"].as_table());
        reader.read(own);
        return *read;
    }();
    return rules;
}

}  // namespace epilogue
