#include "base/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/text.h"

namespace epilogue {
namespace {

ConfigValue::Table entries_of(const toml::table& table);

ConfigValue value_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return {text->get()};
    if (const auto* integer = node.as_integer()) return {integer->get()};
    if (const auto* number = node.as_floating_point()) return {number->get()};
    if (const auto* boolean = node.as_boolean()) return {boolean->get()};
    if (const auto* table = node.as_table()) return {entries_of(*table)};
    if (const auto* array = node.as_array()) {
        ConfigValue::List list;
        for (const toml::node& element : *array) list.push_back(value_of(element));
        return {std::move(list)};
    }
    return {ConfigValue::Other{}};
}

ConfigValue::Table entries_of(const toml::table& table) {
    ConfigValue::Table entries;
    for (const auto& [key, node] : table)
        entries.push_back({std::string(key.str()), key.source().begin.line, value_of(node)});
    std::ranges::stable_sort(entries, {}, &ConfigEntry::line);
    return entries;
}

/// toml++'s words, except the one message of its that repeats a whole value.
std::string_view reason_of(const toml::parse_error& error) {
    const std::string_view words = error.description();
    return words.find("representable") == std::string_view::npos ? words : "the number is too large";
}

struct Describe {
    std::string operator()(const std::string& text) const {
        constexpr std::size_t enough = 60;
        std::string shown(prefix_of(text, enough));
        for (char& c : shown)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
        return fmt::format("\"{}{}\"", shown, text.size() > enough ? "…" : "");
    }
    std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(bool boolean) const { return boolean ? "true" : "false"; }
    std::string operator()(const ConfigValue::List&) const { return "an array"; }
    std::string operator()(const ConfigValue::Table&) const { return "a table"; }
    std::string operator()(ConfigValue::Other) const { return "a date or time"; }
};

}  // namespace

std::string described(const ConfigValue& value) {
    return std::visit(Describe{}, value.data);
}

Result<std::string> read_text_file(const std::string& path) {
    constexpr std::size_t limit = std::size_t{1} << 20U;
    const auto failed = [&](const std::string& why) {
        return fatal(fmt::format("file {} cannot be read: {}", path, why));
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
    if (!file) return failed(std::generic_category().message(errno));
    std::string text(limit + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0) return failed(std::generic_category().message(errno));
    if (text.size() > limit) return failed("it is larger than 1 MiB");
    return text;
}

Result<ConfigValue::Table> parse_toml(std::string_view text, const std::string& name) {
    try {
        return entries_of(toml::parse(text));
    } catch (const toml::parse_error& error) {
        return fatal(
            fmt::format("{}:{}: not valid TOML: {}", name, error.source().begin.line, reason_of(error)));
    }
}

Result<ConfigValue> parse_toml_value(std::string_view text) {
    auto entries = parse_toml(fmt::format("value = {}", text), "value");
    // More than one entry: the text had a line end and another key behind it.
    if (!entries || entries->size() != 1) return fatal("not a TOML value");
    return std::move(entries->front().value);
}

}  // namespace epilogue
