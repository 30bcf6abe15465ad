#include "base/config.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/config_keys.h"
#include "base/text.h"

namespace epilogue {
namespace {

/// Where a key's value came from, as messages begin: "epilogue.toml:12: [worker] senders", or a variable's
/// name.
using Origins = std::map<const ConfigKey*, std::string>;

/// What is wrong, a line each.
using Faults = std::vector<std::string>;

template <class Rows>
std::vector<std::string_view> names_of(const Rows& rows) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.push_back(row.name);
    return names;
}

std::string in_file(const std::string& file, unsigned line, std::string_view section) {
    return fmt::format("{}:{}: [{}]", file, line, section);
}

/// The key that takes the whole section as a table; null where keys have names.
const ConfigKey* whole(const ConfigSection& section) {
    return section.keys.size() == 1 && section.keys.front().name.empty() ? &section.keys.front() : nullptr;
}

void read_whole(const ConfigSection& section, const ConfigEntry& entry, const std::string& file,
                Config& config, Origins& origins, Faults& faults) {
    const ConfigKey* key = whole(section);
    const auto problem = key->kind.read(config, entry.value);
    const unsigned line = problem && problem->line != 0 ? problem->line : entry.line;
    const std::string where = in_file(file, line, section.name);
    if (problem)
        faults.push_back(fmt::format("{} {}", where, problem->text));
    else
        origins[key] = where;
}

void read_section(const ConfigSection& section, const ConfigValue::Table& entries, const std::string& file,
                  Config& config, Origins& origins, Faults& faults) {
    for (const ConfigEntry& entry : entries) {
        const ConfigKey* key = section.find(entry.name);
        if (key == nullptr) {
            faults.push_back(fmt::format("{} {}: unknown key{}", in_file(file, entry.line, section.name),
                                         entry.name, did_you_mean(entry.name, names_of(section.keys))));
        } else if (const auto problem = key->kind.read(config, entry.value)) {
            const unsigned line = problem->line != 0 ? problem->line : entry.line;
            faults.push_back(
                fmt::format("{} {}: {}", in_file(file, line, section.name), entry.name, problem->text));
        } else {
            origins[key] = fmt::format("{} {}", in_file(file, entry.line, section.name), entry.name);
        }
    }
}

/// Errors: the file cannot be read, or is no TOML.
Result<void> read_file(const std::string& file, const ConfigSchema& schema, Config& config, Origins& origins,
                       Faults& faults) {
    TRY(const std::string text, read_text_file(file));
    TRY(const ConfigValue::Table sections, parse_toml(text, file));
    for (const ConfigEntry& entry : sections) {
        const ConfigSection* section = schema.find(entry.name);
        const auto* entries = std::get_if<ConfigValue::Table>(&entry.value.data);
        if (section == nullptr && entries == nullptr)
            faults.push_back(fmt::format("{}:{}: {}: a key must stand under a section, such as [kafka]", file,
                                         entry.line, entry.name));
        else if (section == nullptr)
            faults.push_back(fmt::format("{}: unknown section{}", in_file(file, entry.line, entry.name),
                                         did_you_mean(entry.name, names_of(schema.sections()))));
        else if (entries == nullptr)
            faults.push_back(fmt::format("{}: expected a section, got {}",
                                         in_file(file, entry.line, entry.name), described(entry.value)));
        else if (whole(*section) != nullptr)
            read_whole(*section, entry, file, config, origins, faults);
        else
            read_section(*section, *entries, file, config, origins, faults);
    }
    return {};
}

/// The elements of `a, b` as a list.
ConfigValue comma_list(std::string_view text) {
    ConfigValue::List list;
    for (std::string& part : split(text, ',')) list.push_back({std::move(part)});
    return {std::move(list)};
}

/// A variable's or flag's text as the value its key wants; what cannot be one stays text, which the key
/// refuses.
ConfigValue value_of(ConfigKind::Written written, std::string_view text) {
    using Written = ConfigKind::Written;
    const std::string_view bare = trimmed(text);
    if (written == Written::integer)
        if (const auto integer = integer_in(bare)) return {*integer};
    if (written == Written::flag && (bare == "true" || bare == "false")) return {bare == "true"};
    if ((written == Written::list && bare.starts_with('[')) ||
        (written == Written::table && bare.starts_with('{')))
        if (auto value = parse_toml_value(bare)) return std::move(*value);
    if (written == Written::list && !bare.starts_with('[')) return comma_list(bare);
    return {std::string(text)};
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return result;
}

std::string variable_of(std::string_view section, std::string_view key) {
    return fmt::format("EPILOGUE_{}_{}", upper(section), upper(key));
}

/// The key of which the variable is a part (EPILOGUE_<SECTION>_<KEY>_<rest>) and that took it; null when none
/// did.
const ConfigKey* read_part(const ConfigSection& section, const std::string& name, const std::string& value,
                           Config& config) {
    for (const ConfigKey& key : section.keys) {
        const std::string start = variable_of(section.name, key.name) + (key.name.empty() ? "" : "_");
        if (key.kind.read_part && name.starts_with(start) &&
            key.kind.read_part(config, std::string_view(name).substr(start.size()), value))
            return &key;
    }
    return nullptr;
}

void read_section_variables(const ConfigSection& section, const Environment& environment, Config& config,
                            Origins& origins, Faults& faults) {
    std::map<std::string, const ConfigKey*, std::less<>> known;
    for (const ConfigKey& key : section.keys) known.emplace(variable_of(section.name, key.name), &key);
    const std::string prefix = variable_of(section.name, "");
    for (auto variable = environment.lower_bound(prefix);
         variable != environment.end() && variable->first.starts_with(prefix); ++variable) {
        const auto& [name, value] = *variable;
        const auto row = known.find(name);
        if (row == known.end()) {
            if (const ConfigKey* key = read_part(section, name, value, config)) {
                origins[key] = name;
                continue;
            }
            std::vector<std::string_view> names;
            for (const auto& [candidate, key] : known) names.push_back(candidate);
            faults.push_back(
                fmt::format("{}: unknown key of [{}]{}", name, section.name, did_you_mean(name, names)));
            continue;
        }
        const ConfigKind& kind = row->second->kind;
        if (const auto problem = kind.read(config, value_of(kind.written, value)))
            faults.push_back(fmt::format("{}: {}", name, problem->text));
        else
            origins[row->second] = name;
    }
}

void resolve_secrets(Config& config, const Environment& environment, const ConfigSchema& schema,
                     const Origins& origins, Faults& faults) {
    for (const ConfigSection& section : schema.sections())
        for (const ConfigKey& key : section.keys) {
            const auto origin = origins.find(&key);
            if (origin == origins.end() || !key.kind.resolve) continue;
            if (const auto problem = key.kind.resolve(config, environment))
                faults.push_back(fmt::format("{}: {}", origin->second, problem->text));
        }
}

/// Two settings that cannot both hold; said of `key`.
struct Contradiction {
    std::string_view section;
    std::string_view key;
    std::string text;
};

std::optional<Contradiction> contradiction_in(const Config& config, const ConfigSchema& schema) {
    if (config.worker.http_timeout * 2 >= config.worker.lease)
        return Contradiction{
            "worker", "http_timeout_s",
            fmt::format("{} is not under half of lease_s, which is {}: a request could outlive the "
                        "claim it is made under",
                        config.worker.http_timeout.count(), config.worker.lease.count())};
    if (config.database.host.empty() && config.database.socket.empty())
        return Contradiction{"database", "host", "host and socket are both empty: one of them is needed"};
    if (config.database.tls != DatabaseTls::verified && !config.database.tls_ca.empty())
        return Contradiction{"database", "tls_ca", "is used with tls = \"verified\" only"};
    if (config.database.tls_certificate.empty() != config.database.tls_key.empty())
        return Contradiction{"database", "tls_certificate", "tls_certificate and tls_key go together"};
    if (config.relay.buffer_bytes < 2 * config.relay.max_event_bytes)
        return Contradiction{
            "relay", "buffer_bytes",
            fmt::format("{} is under twice max_event_bytes, which is {}: the largest event has "
                        "no room",
                        config.relay.buffer_bytes, config.relay.max_event_bytes)};
    if (config.kafka.dead_letter_topic == config.kafka.topic)
        return Contradiction{"kafka", "dead_letter_topic",
                             "is the topic itself: every dead letter would be read again"};
    for (const ConfigSection& section : schema.sections())
        if (auto found = section.contradiction ? section.contradiction(config) : std::nullopt)
            return Contradiction{section.name, found->key, std::move(found->text)};
    return {};
}

}  // namespace

Result<Config> load_config(const std::optional<std::string>& file, const Environment& environment,
                           const ConfigSchema& schema) {
    Config config;
    Origins origins;
    Faults faults;
    if (file) TRY_VOID(read_file(*file, schema, config, origins, faults));
    for (const ConfigSection& section : schema.sections())
        read_section_variables(section, environment, config, origins, faults);
    resolve_secrets(config, environment, schema, origins, faults);
    if (!faults.empty()) return fatal(fmt::format("{}", fmt::join(faults, "\n")));
    if (const auto found = contradiction_in(config, schema)) {
        const auto origin = origins.find(schema.find(found->section)->find(found->key));
        const std::string where =
            origin != origins.end() ? origin->second : fmt::format("[{}] {}", found->section, found->key);
        return fatal(fmt::format("{}: {}", where, found->text));
    }
    return config;
}

Result<void> set_key(Config& config, std::string_view key, std::string_view value,
                     const Environment& environment, const ConfigSchema& schema) {
    const auto dot = key.find('.');
    const ConfigSection* section = schema.find(key.substr(0, dot));
    const ConfigKey* row =
        section == nullptr || dot == std::string_view::npos ? nullptr : section->find(key.substr(dot + 1));
    if (row == nullptr) return fatal(fmt::format("{}: unknown key", key));
    auto problem = row->kind.read(config, value_of(row->kind.written, value));
    if (!problem && row->kind.resolve) problem = row->kind.resolve(config, environment);
    if (problem) return fatal(fmt::format("{}: {}", key, problem->text));
    return {};
}

Result<void> validate_for_use(const Config& config, const ConfigSchema& schema) {
    if (const auto found = contradiction_in(config, schema))
        return fatal(fmt::format("[{}] {}: {}", found->section, found->key, found->text));
    const bool must_sign = std::ranges::any_of(schema.sections(), [&](const ConfigSection& section) {
        return section.needs_keys && section.needs_keys(config);
    });
    if (must_sign && config.security.keys.empty())
        return fatal(
            "[security] keys: empty, but a sink has a token: its posts must be signed; make a key with "
            "\"epilogue keygen\" and name its file here");
    return {};
}

}  // namespace epilogue
