// The epilogue.toml of a program that is started: settings by their names, and the text that says them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace epilogue::process {

/// A value of the configuration file.
using Setting = std::variant<std::string, std::int64_t, bool, std::vector<std::string>,
                             std::map<std::string, std::string>>;
/// By "section.key", e.g. {"worker.settle_ms", 200}.
using Settings = std::map<std::string, Setting>;

/// All of them in one; of a key that stands in several the last one counts.
Settings merged(std::initializer_list<Settings> parts);

/// The text of an epilogue.toml that says this.
std::string toml_of(const Settings& settings);

}  // namespace epilogue::process
