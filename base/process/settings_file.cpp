#include "base/process/settings_file.h"

#include <nlohmann/json.hpp>

namespace epilogue::process {
namespace {

/// JSON's escapes are among those of TOML's basic strings.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump();
}

/// A setting's value as TOML writes it.
struct Toml {
    std::string operator()(const std::string& text) const { return quoted(text); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(bool yes) const { return yes ? "true" : "false"; }
    std::string operator()(const std::vector<std::string>& list) const {
        std::string text;
        for (const auto& item : list) text += (text.empty() ? "" : ", ") + quoted(item);
        return "[" + text + "]";
    }
    std::string operator()(const std::map<std::string, std::string>& table) const {
        std::string text;
        for (const auto& [key, value] : table)
            text += (text.empty() ? "" : ", ") + quoted(key) + " = " + quoted(value);
        return "{" + text + "}";
    }
};

}  // namespace

Settings merged(std::initializer_list<Settings> parts) {
    Settings all;
    for (const auto& part : parts)
        for (const auto& [key, value] : part) all[key] = value;
    return all;
}

std::string toml_of(const Settings& settings) {
    std::string text;  // dotted keys: they need no section headers
    for (const auto& [key, value] : settings) text += key + " = " + std::visit(Toml{}, value) + "\n";
    return text;
}

}  // namespace epilogue::process
