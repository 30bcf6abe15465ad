// The kinds of value that are, or may hold, secrets: their messages never repeat a value.
#include <algorithm>

#include <fmt/format.h>

#include "base/config_kinds.h"
#include "base/jwt.h"
#include "base/text.h"

namespace epilogue {
namespace {

/// What a value is, without what it says.
std::string shape_of(const ConfigValue& value) {
    if (std::holds_alternative<std::string>(value.data)) return "text";
    if (std::holds_alternative<bool>(value.data)) return "a boolean";
    if (std::holds_alternative<std::int64_t>(value.data) || std::holds_alternative<double>(value.data))
        return "a number";
    return described(value);
}

std::string mismatch(std::string_view expected, const ConfigValue& value) {
    return fmt::format("expected {}, got {}", expected, shape_of(value));
}

/// What `written` stands for; notes the file that it is read from.
Result<Secret> resolved_in(Config& config, const std::string& written, const Environment& environment) {
    if (auto file = file_of_secret(written)) config.secret_files.push_back(std::move(*file));
    return resolve_secret(written, environment);
}

/// Replaces what was written by the secret it stands for. Tokens travel in headers and passwords in
/// handshakes: a line end in one is a mistake in a file, and would break the header.
Problem resolve_line(Config& config, Secret& secret, const Environment& environment) {
    auto resolved = resolved_in(config, secret.reveal(), environment);
    if (!resolved) return std::move(resolved).error().text;
    for (const char c : resolved->reveal())
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            return Complaint("expected one line of text, but the secret holds a control character");
    secret = std::move(*resolved);
    return {};
}

Problem resolve_rsa_key(Config& config, Secret& secret, const Environment& environment) {
    if (secret.empty()) return {};
    auto resolved = resolved_in(config, secret.reveal(), environment);
    if (!resolved) return std::move(resolved).error().text;
    if (auto key = JwtKey::from_pem(*resolved); !key) return std::move(key).error().text;
    secret = std::move(*resolved);
    return {};
}

Problem resolve_key(Config& config, Secret& secret, const Environment& environment) {
    auto resolved = resolved_in(config, secret.reveal(), environment);
    if (!resolved) return std::move(resolved).error().text;
    auto bytes = key_bytes(resolved->reveal());
    if (!bytes) return std::move(bytes).error().text;
    secret = Secret(std::move(*bytes));
    return {};
}

struct Refused {
    std::string_view name;  ///< of a librdkafka property; one that ends with '.' stands for all that start so
    std::string_view reason;
};

constexpr Refused refused_properties[] = {
    {"enable.auto.", "offsets are committed only after the database has the batch"},
    {"group.id", "set [kafka] group"},
    {"bootstrap.servers", "set [kafka] brokers"},
    {"metadata.broker.list", "set [kafka] brokers"},
};

std::optional<std::string> why_refused(std::string_view name) {
    for (const auto& [refused, reason] : refused_properties)
        if (name == refused || (refused.ends_with('.') && name.starts_with(refused)))
            return fmt::format("{} cannot be set: {}", name, reason);
    return {};
}

bool holds_a_secret(std::string_view property) {
    return property.find("password") != std::string_view::npos ||
           property.find("secret") != std::string_view::npos || property.ends_with(".pem");
}

struct PropertyText {
    std::optional<std::string> operator()(const std::string& text) const { return text; }
    std::optional<std::string> operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::optional<std::string> operator()(double number) const { return fmt::format("{}", number); }
    std::optional<std::string> operator()(bool boolean) const { return boolean ? "true" : "false"; }
    std::optional<std::string> operator()(const auto&) const { return {}; }
};

/// Adds `table` to `properties`. Unquoted, `security.protocol = "SSL"` is a table in a table to TOML; it
/// means the property all the same.
Problem add_properties(std::map<std::string, std::string>& properties, const std::string& prefix,
                       const ConfigValue::Table& table) {
    for (const ConfigEntry& entry : table) {
        const std::string name = prefix + entry.name;
        if (const auto* inner = std::get_if<ConfigValue::Table>(&entry.value.data)) {
            if (auto problem = add_properties(properties, name + ".", *inner)) return problem;
            continue;
        }
        if (const auto reason = why_refused(name)) return Complaint(*reason, entry.line);
        auto text = std::visit(PropertyText{}, entry.value.data);
        if (!text)
            return Complaint(
                fmt::format("{}: {}", name, mismatch("text, a number or a boolean", entry.value)),
                entry.line);
        properties[name] = std::move(*text);
    }
    return {};
}

}  // namespace

namespace {

/// A secret, which `resolve` replaces by what it stands for.
ConfigKind one_secret(ConfigPlace<Secret> place, std::string expected,
                      Problem (*resolve)(Config&, Secret&, const Environment&)) {
    ConfigKind kind;
    kind.expected = std::move(expected);
    kind.default_value = "\"\"";
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* text = std::get_if<std::string>(&value.data);
        if (text == nullptr) return mismatch(expected, value);
        place(config) = Secret(*text);
        return {};
    };
    kind.resolve = [=](Config& config, const Environment& environment) {
        return resolve(config, place(config), environment);
    };
    return kind;
}

/// A list of secrets, each of which `resolve` replaces by what it stands for.
ConfigKind secret_list(ConfigPlace<std::vector<Secret>> place, std::string expected,
                       Problem (*resolve)(Config&, Secret&, const Environment&)) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::list;
    kind.expected = std::move(expected);
    kind.default_value = "[]";
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* list = std::get_if<ConfigValue::List>(&value.data);
        if (list == nullptr) return mismatch(expected, value);
        place(config).clear();
        for (const ConfigValue& element : *list) {
            const auto* text = std::get_if<std::string>(&element.data);
            if (text == nullptr) return mismatch(expected, element);
            place(config).emplace_back(*text);
        }
        return {};
    };
    kind.resolve = [=](Config& config, const Environment& environment) -> Problem {
        auto& keys = place(config);
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (const auto problem = resolve(config, keys[i], environment))
                return fmt::format("number {}: {}", i + 1, problem->text);
        return {};
    };
    return kind;
}

}  // namespace

ConfigKind secret(ConfigPlace<Secret> place) {
    return one_secret(std::move(place), "a secret: text, \"env:NAME\" or \"file:PATH\"", &resolve_line);
}

ConfigKind rsa_key(ConfigPlace<Secret> place) {
    return one_secret(std::move(place), "a private key as PEM: \"env:NAME\" or \"file:PATH\"",
                      &resolve_rsa_key);
}

ConfigKind security_keys(ConfigPlace<std::vector<Secret>> place) {
    return secret_list(std::move(place), "a list of secrets: \"env:NAME\", \"file:PATH\" or 64 hex digits",
                       &resolve_key);
}

ConfigKind secrets(ConfigPlace<std::vector<Secret>> place) {
    return secret_list(std::move(place), "a list of secrets: text, \"env:NAME\" or \"file:PATH\"",
                       &resolve_line);
}

ConfigKind kafka_properties(ConfigPlace<std::map<std::string, std::string>> place) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::table;
    kind.expected = "a table of librdkafka properties";
    kind.default_value = "{}";
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* table = std::get_if<ConfigValue::Table>(&value.data);
        if (table == nullptr) return mismatch(expected, value);
        place(config).clear();
        return add_properties(place(config), "", *table);
    };
    kind.resolve = [=](Config& config, const Environment& environment) -> Problem {
        for (auto& [name, text] : place(config)) {
            if (!holds_a_secret(name)) continue;
            auto resolved = resolved_in(config, text, environment);
            if (!resolved) return fmt::format("{}: {}", name, resolved.error().text);
            text = resolved->reveal();
        }
        return {};
    };
    return kind;
}

ConfigKind named_tokens(ConfigPlace<std::map<std::string, Secret>> place, std::string expected,
                        std::string sample) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::table;
    kind.expected = std::move(expected);
    kind.sample = std::move(sample);
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* names = std::get_if<ConfigValue::Table>(&value.data);
        if (names == nullptr) return mismatch(expected, value);
        place(config).clear();
        for (const ConfigEntry& entry : *names) {
            const auto* keys = std::get_if<ConfigValue::Table>(&entry.value.data);
            const bool one_token = keys != nullptr && keys->size() == 1 && keys->front().name == "token";
            const auto* token = one_token ? std::get_if<std::string>(&keys->front().value.data) : nullptr;
            if (token == nullptr)
                return Complaint(fmt::format("{}: expected {}", entry.name, expected), entry.line);
            place(config)[entry.name] = Secret(*token);
        }
        return {};
    };
    kind.resolve = [=](Config& config, const Environment& environment) -> Problem {
        for (auto& [name, token] : place(config))
            if (const auto problem = resolve_line(config, token, environment))
                return fmt::format("{}: {}", name, problem->text);
        return {};
    };
    kind.read_part = [=](Config& config, std::string_view rest, const std::string& value) {
        constexpr std::string_view end = "_TOKEN";
        if (rest.size() <= end.size() || !rest.ends_with(end)) return false;
        place(config)[std::string(rest.substr(0, rest.size() - end.size()))] = Secret(value);
        return true;
    };
    return kind;
}

}  // namespace epilogue
