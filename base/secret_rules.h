// The rules by which secrets are known: gitleaks' maintained set (ops/secret-rules/pin) and the few of our
// own that it lacks (base/secret_rules.toml), both in gitleaks' form.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

namespace epilogue {

/// No rule finds a longer secret, in bytes.
constexpr std::size_t longest_secret = 4096;

/// A regular expression that is compiled when it is first asked for: most are never needed. Thread-safe.
class LazyPattern {
  public:
    /// `pattern` in RE2's syntax. An invalid one ends the process with an exception when it is first used.
    explicit LazyPattern(std::string pattern) : source_(std::move(pattern)) {}

    /// Throws std::logic_error when the pattern is invalid.
    const RE2& get() const;

  private:
    std::string source_;
    mutable std::once_flag once_;
    mutable std::unique_ptr<RE2> compiled_;
};

/// What looks like a secret and is none.
struct Allowlist {
    /// What the patterns are held against.
    enum class Target { secret, match, line };
    Target target = Target::secret;
    std::vector<const LazyPattern*> patterns;
    std::vector<std::string> stop_words;  ///< lower case: a secret with one of them in it is none
};

/// One form of a secret.
struct SecretRule {
    std::string name;  ///< what a reader is told in its place, e.g. "GitHub token"
    const LazyPattern* pattern = nullptr;
    std::vector<std::string> keywords;  ///< lower case: near one of them the pattern is tried, nowhere else
    double entropy = 0;                 ///< the secret's, in bits a character, must be greater; 0: any
    std::size_t reach = 0;              ///< what it finds ends within so many bytes of the keyword
    int group = 0;          ///< of the pattern, that is the secret; 0: the first one that is not empty
    bool is_vague = false;  ///< says less than another rule that finds the same
    std::vector<Allowlist> allowed;
};

struct SecretRules {
    std::vector<SecretRule> all;
    std::deque<LazyPattern> patterns;  ///< what the others point at
};

/// Both rule sets, read once. Thread-safe; what is returned lives as long as the process.
const SecretRules& secret_rules();

}  // namespace epilogue
