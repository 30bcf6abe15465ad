// The table of keys: one row a key. Parsing, the environment, flags, range checks and the example file
// all read it, so that none of them can know a key that the others do not.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_kinds.h"

namespace epilogue {

struct ConfigKey {
    std::string_view name;  ///< "" as the only key of a section: the whole section, as a table
    ConfigKind kind;
    std::string_view doc;  ///< one sentence or two
};

/// What is wrong with a setting beside others of its section.
struct SettingProblem {
    std::string_view key;
    std::string text;
};

struct ConfigSection {
    std::string_view name;
    std::string_view doc;
    std::vector<ConfigKey> keys;
    /// True when posts are made with these settings, which [security] keys has to sign; null: never.
    std::function<bool(const Config&)> needs_keys = nullptr;

    /// Settings of the section that cannot both hold; null: there are none.
    std::function<std::optional<SettingProblem>(const Config&)> contradiction = nullptr;

    /// The key of that name, or null.
    const ConfigKey* find(std::string_view key) const;
};

/// Sections that base/ does not know, by their place in the example file.
struct DeclaredSections {
    std::vector<ConfigSection> summary = {};  ///< between [worker] and [agent_server]
    std::vector<ConfigSection> sinks = {};    ///< between [agent_server] and [retention]
};

/// All sections, in the order of the example file: those of Config's own members, and those that others
/// declare.
class ConfigSchema {
  public:
    explicit ConfigSchema(DeclaredSections declared);

    const std::vector<ConfigSection>& sections() const { return sections_; }
    /// The section of that name, or null.
    const ConfigSection* find(std::string_view name) const;

  private:
    std::vector<ConfigSection> sections_;
};

/// `; did you mean "brokers"?` when one of `known` differs from `word` by two letters or less, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace epilogue
