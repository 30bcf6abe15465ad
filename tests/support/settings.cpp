#include <nlohmann/json.hpp>

#include "tests/support/database.h"
#include "tests/support/epilogue.h"
#include "tests/support/fake_platform_process.h"
#include "tests/support/kafka_broker.h"

namespace epilogue::testing {
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

Settings settings_for(const KafkaBroker& broker, const std::string& topic, const std::string& group) {
    return {{"kafka.brokers", broker.bootstrap()}, {"kafka.topic", topic}, {"kafka.group", group}};
}

Settings settings_for(const Database& server, const std::string& database) {
    return {{"database.host", "127.0.0.1"},   {"database.port", server.port()},
            {"database.user", server.user()}, {"database.password", server.password()},
            {"database.name", database},      {"database.tls", "off"}};
}

Settings settings_for(const FakePlatformProcess& fake_platform) {
    Settings settings;
    for (const std::string platform : {"github", "gitlab", "slack"}) {
        settings[platform + ".api_url"] = fake_platform.url("/" + platform);
        settings[platform + ".token"] = "a token of the tests";
    }
    return settings;
}

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

}  // namespace epilogue::testing
