#include <fmt/format.h>

#include "base/config_keys.h"

namespace epilogue {
namespace {

constexpr std::string_view heading = R"(# Epilogue's settings: every key, with its meaning and its default.
# Generated from the table in base/config_keys.cpp; a test keeps the two equal.
#
# Precedence: defaults < this file < environment < flags. The variable of a key is EPILOGUE_<SECTION>_<KEY>, for
# example EPILOGUE_KAFKA_BROKERS; lists are written there as a TOML array or with commas, tables as a TOML inline
# table. Every secret may be written as "env:NAME" or "file:PATH". `epilogue check` reads everything and says what
# is wrong.
)";

/// `text` as comment lines of a width that is easy to read.
std::string comment(std::string_view text) {
    constexpr std::size_t width = 108;
    std::string result;
    while (text.size() > width) {
        const auto space = text.rfind(' ', width);
        result += fmt::format("# {}\n", text.substr(0, space));
        text.remove_prefix(space + 1);
    }
    return result + fmt::format("# {}\n", text);
}

}  // namespace

std::string example_toml(const ConfigSchema& schema) {
    std::string result(heading);
    for (const ConfigSection& section : schema.sections()) {
        result += fmt::format("\n{}[{}]\n", comment(section.doc), section.name);
        for (const ConfigKey& key : section.keys) {
            result += comment(key.doc);
            result += key.kind.sample.empty() ? fmt::format("{} = {}  # {}\n", key.name,
                                                            key.kind.default_value, key.kind.expected)
                                              : key.kind.sample;
        }
    }
    return result;
}

}  // namespace epilogue
