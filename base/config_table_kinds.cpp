// The kinds of value that are lists of tables with keys of their own.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/config_kinds.h"

namespace epilogue {
namespace {

using Server = Config::Relay::Server;
using AppServer = Config::Relay::AppServer;
template <class Entry>
using Entries = ConfigPlace<std::vector<Entry>>;

/// The table of that place. Kinds look at the defaults, too, where there is none.
template <class Entry>
Entry& entry_at(const Entries<Entry>& place, Config& config, std::size_t i) {
    auto& entries = place(config);
    if (entries.size() <= i) entries.resize(i + 1);
    return entries[i];
}

/// The kinds of one table's keys, which read and resolve as those of a section do.
template <class Entry>
ConfigKind url_of(const Entries<Entry>& place, std::size_t i) {
    return required_url([=](Config& config) -> std::string& { return entry_at(place, config, i).url; });
}
template <class Entry>
ConfigKind key_of(const Entries<Entry>& place, std::size_t i) {
    return secret([=](Config& config) -> Secret& { return entry_at(place, config, i).key; });
}

/// What is read besides url and key. nullopt: there is no such key.
std::optional<Problem> read_more(Server& server, const ConfigEntry& entry) {
    if (entry.name != "all") return std::nullopt;
    const auto* all = std::get_if<bool>(&entry.value.data);
    if (all == nullptr)
        return Complaint(fmt::format("expected true or false, got {}", described(entry.value)));
    server.all = *all;
    return Problem{};
}
std::optional<Problem> read_more(AppServer& server, const ConfigEntry& entry) {
    if (entry.name != "org") return std::nullopt;
    const auto* org = std::get_if<std::string>(&entry.value.data);
    const auto is_visible = [](char c) { return c > 0x20 && c < 0x7F; };
    if (org == nullptr || !std::all_of(org->begin(), org->end(), is_visible))
        return Complaint(fmt::format("expected the id of an organisation, got {}", described(entry.value)));
    server.org = *org;
    return Problem{};
}

bool is_there_twice(const Server& one, const Server& other) {
    return one.url == other.url;
}
bool is_there_twice(const AppServer& one, const AppServer& other) {
    return one.url == other.url && one.org == other.org;
}

template <class Entry>
Problem read_key(Config& config, const Entries<Entry>& place, std::size_t i, const ConfigEntry& entry,
                 const std::string& keys) {
    if (entry.name == "url") return url_of(place, i).read(config, entry.value);
    if (entry.name == "key") return key_of(place, i).read(config, entry.value);
    if (const auto read = read_more(place(config)[i], entry)) return *read;
    return Complaint("unknown key: expected " + keys);
}

/// Reads the last one of `place`; names the key that is wrong.
template <class Entry>
Problem read_entry(Config& config, const Entries<Entry>& place, const ConfigValue::Table& table,
                   const std::string& keys) {
    auto& entries = place(config);
    const std::size_t i = entries.size() - 1;
    unsigned line = 0;
    for (const ConfigEntry& entry : table) {
        if (auto problem = read_key(config, place, i, entry, keys))
            return Complaint(fmt::format("{}: {}", entry.name, problem->text), entry.line);
        line = entry.line;
    }
    const Entry& last = entries.back();
    if (last.url.empty()) return Complaint(fmt::format("number {}: url is missing", i + 1), line);
    if (std::any_of(entries.begin(), entries.end() - 1,
                    [&](const auto& each) { return is_there_twice(each, last); }))
        return Complaint(fmt::format("number {}: {} is there twice", i + 1, last.url), line);
    return {};
}

/// `keys`: of one table, as messages name them.
template <class Entry>
ConfigKind tables(Entries<Entry> place, const std::string& name, const std::string& keys,
                  std::string sample) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::list;
    kind.expected = "tables " + name + " with " + keys;
    if (const auto last = kind.expected.rfind(" or "); last != std::string::npos)
        kind.expected.replace(last, 4, " and ");
    kind.sample = std::move(sample);
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* list = std::get_if<ConfigValue::List>(&value.data);
        if (list == nullptr) return Complaint("expected " + expected);
        place(config).clear();
        for (const ConfigValue& element : *list) {
            const auto* table = std::get_if<ConfigValue::Table>(&element.data);
            if (table == nullptr) return Complaint("expected " + expected);
            place(config).emplace_back();
            if (auto problem = read_entry(config, place, *table, keys)) return problem;
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

}  // namespace

ConfigKind agent_servers(ConfigPlace<std::vector<Server>> place) {
    return tables<Server>(std::move(place), "[[relay.servers]]", "url, key or all",
                          "# [[relay.servers]]\n# url = \"http://agent-server:8000\"\n# key = "
                          "\"env:SERVER_A\"\n# all = true\n");
}

ConfigKind app_servers(ConfigPlace<std::vector<AppServer>> place) {
    return tables<AppServer>(std::move(place), "[[relay.app_servers]]", "url, key or org",
                             "# [[relay.app_servers]]\n# url = \"https://app.all-hands.dev\"\n# key = "
                             "\"env:OPENHANDS_API_KEY\"\n# org = \"\"\n");
}

}  // namespace epilogue
