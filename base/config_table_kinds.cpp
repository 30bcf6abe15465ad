// The kind of value that is a list of tables with keys of their own.
#include <algorithm>

#include <fmt/format.h>

#include "base/config_kinds.h"

namespace epilogue {
namespace {

using Servers = std::vector<Config::Relay::Server>;

/// The server of that place. Kinds look at the defaults, too, where there is none.
Config::Relay::Server& server_at(const ConfigPlace<Servers>& place, Config& config, std::size_t i) {
    Servers& servers = place(config);
    if (servers.size() <= i) servers.resize(i + 1);
    return servers[i];
}

/// The kinds of one server's keys, which read and resolve as those of a section do.
ConfigKind url_of(const ConfigPlace<Servers>& place, std::size_t i) {
    return required_url([=](Config& config) -> std::string& { return server_at(place, config, i).url; });
}
ConfigKind key_of(const ConfigPlace<Servers>& place, std::size_t i) {
    return secret([=](Config& config) -> Secret& { return server_at(place, config, i).key; });
}

Problem read_key(Config& config, const ConfigPlace<Servers>& place, std::size_t i, const ConfigEntry& entry) {
    if (entry.name == "url") return url_of(place, i).read(config, entry.value);
    if (entry.name == "key") return key_of(place, i).read(config, entry.value);
    if (entry.name != "all") return Complaint("unknown key: expected url, key or all");
    const auto* all = std::get_if<bool>(&entry.value.data);
    if (all == nullptr)
        return Complaint(fmt::format("expected true or false, got {}", described(entry.value)));
    place(config)[i].all = *all;
    return {};
}

/// Reads the last one of `place`; names the key that is wrong.
Problem read_server(Config& config, const ConfigPlace<Servers>& place, const ConfigValue::Table& entries) {
    Servers& servers = place(config);
    const std::size_t i = servers.size() - 1;
    unsigned line = 0;
    for (const ConfigEntry& entry : entries) {
        if (auto problem = read_key(config, place, i, entry))
            return Complaint(fmt::format("{}: {}", entry.name, problem->text), entry.line);
        line = entry.line;
    }
    const std::string& url = servers.back().url;
    if (url.empty()) return Complaint(fmt::format("number {}: url is missing", i + 1), line);
    if (std::any_of(servers.begin(), servers.end() - 1, [&](const auto& each) { return each.url == url; }))
        return Complaint(fmt::format("number {}: {} is there twice", i + 1, url), line);
    return {};
}

}  // namespace

ConfigKind agent_servers(ConfigPlace<Servers> place) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::list;
    kind.expected = "tables [[relay.servers]] with url, key and all";
    kind.sample =
        "# [[relay.servers]]\n# url = \"http://agent-server:8000\"\n# key = \"env:SERVER_A\"\n# all = true\n";
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* list = std::get_if<ConfigValue::List>(&value.data);
        if (list == nullptr) return Complaint("expected " + expected);
        place(config).clear();
        for (const ConfigValue& element : *list) {
            const auto* entries = std::get_if<ConfigValue::Table>(&element.data);
            if (entries == nullptr) return Complaint("expected " + expected);
            place(config).emplace_back();
            if (auto problem = read_server(config, place, *entries)) return problem;
        }
        return {};
    };
    kind.resolve = [=](Config& config, const Environment& environment) -> Problem {
        for (std::size_t i = 0; i < place(config).size(); ++i)
            if (const auto problem = key_of(place, i).resolve(config, environment))
                return Complaint(fmt::format("{}: key: {}", place(config)[i].url, problem->text));
        return {};
    };
    return kind;
}

}  // namespace epilogue
