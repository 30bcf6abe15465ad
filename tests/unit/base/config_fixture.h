// What the suites about settings share: files of their own, and loading that says why it failed.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include "base/config.h"
#include "base/config_keys.h"
#include "base/ids.h"
#include "base/text.h"
#include "sinks/registry.h"
#include "worker/sources/registry.h"

namespace epilogue {

/// A file of its own in the system's folder for temporary files, gone at the end of the test.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view content)
        : path_(std::filesystem::temp_directory_path() / ("epilogue-" + random_uuid() + ".toml")) {
        std::ofstream(path_) << content;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

/// The core's sections, the summary sources' and the sinks'.
inline const ConfigSchema& all_sections() {
    static const ConfigSchema schema({.summary = summary_sections(), .sinks = sink_sections()});
    return schema;
}

/// The configuration that `toml` and `environment` give; the test ends when they are refused.
inline Config loaded(std::string_view toml, const Environment& environment = {}) {
    const TemporaryFile file(toml);
    const auto config = load_config(file.path(), environment, all_sections());
    BOOST_REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().text));
    return *config;
}

/// Why `toml` and `environment` are refused, with "F" for the file's path; "" when they are not.
inline std::string refusal(std::string_view toml, const Environment& environment = {}) {
    const TemporaryFile file(toml);
    const auto config = load_config(file.path(), environment, all_sections());
    if (config) return "";
    BOOST_TEST((config.error().remedy == Remedy::fatal));
    return replaced(config.error().text, file.path(), "F");
}

inline std::string refusal_of_variable(const std::string& name, const std::string& value) {
    const auto config = load_config(std::nullopt, {{name, value}}, all_sections());
    return config ? "" : config.error().text;
}

inline const std::string key64(64, 'a');

}  // namespace epilogue
