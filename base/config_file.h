// Reading what stands in a configuration file or variable, before anything is known about its keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace epilogue {

struct ConfigEntry;

/// A TOML value without its library.
struct ConfigValue {
    /// Dates and times: no key takes one.
    struct Other {};
    using List = std::vector<ConfigValue>;
    using Table = std::vector<ConfigEntry>;
    std::variant<std::string, std::int64_t, double, bool, List, Table, Other> data;
};

struct ConfigEntry {
    std::string name;
    unsigned line = 0;  ///< of the name; 1 is the first
    ConfigValue value;
};

/// `"many"`, `12`, `true`, `an array`, …: for messages; long text is cut.
std::string described(const ConfigValue& value);

/// The whole content of a file of at most 1 MiB. Fatal, naming the path and the reason, when it cannot be
/// read.
Result<std::string> read_text_file(const std::string& path);

/// The top-level entries of a TOML document in the order of their lines. `name` is put before the line in
/// errors (`name:12: …`), which are fatal and hold no value.
Result<ConfigValue::Table> parse_toml(std::string_view text, const std::string& name);

/// One TOML value, such as `["a", "b"]` or `{a = 1}`. Fatal when the text is none; the error has no detail,
/// because the text may be secret.
Result<ConfigValue> parse_toml_value(std::string_view text);

}  // namespace epilogue
