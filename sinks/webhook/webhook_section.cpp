#include "sinks/webhook/webhook_section.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sinks/webhook/webhook_signature.h"

namespace epilogue {
namespace {

using Secrets = ConfigPlace<std::vector<Secret>>;

/// A list of signing secrets; one that is none is a mistake to be told at the start, not at the first post.
ConfigKind signing_secrets(const Secrets& at) {
    ConfigKind kind = secrets(at);
    kind.resolve = [at, resolve = kind.resolve](Config& config, const Environment& environment) -> Problem {
        if (auto problem = resolve(config, environment)) return problem;
        const auto& written = at(config);
        for (std::size_t i = 0; i < written.size(); ++i)
            if (!webhook_key(written[i].reveal()))
                return Complaint(
                    fmt::format("number {}: expected \"whsec_\" and the base64 of 24 to 64 bytes", i + 1));
        return {};
    };
    return kind;
}

/// As it is written: a slash at its end may mean another place.
ConfigKind url_of(const std::string& name) {
    const auto at = [name](Config& config) -> std::string& {
        return config.extensions.edit<WebhookSection>().endpoints[name].url;
    };
    ConfigKind kind = required_url(at);
    kind.read = [at, read = kind.read](Config& config, const ConfigValue& value) -> Problem {
        if (auto problem = read(config, value)) return problem;
        at(config) = std::get<std::string>(value.data);
        return {};
    };
    return kind;
}

ConfigKind secrets_of(const std::string& name) {
    return signing_secrets([name](Config& config) -> std::vector<Secret>& {
        return config.extensions.edit<WebhookSection>().endpoints[name].secrets;
    });
}

Problem read_endpoint(Config& config, const ConfigEntry& endpoint, const std::string& expected) {
    const auto* keys = std::get_if<ConfigValue::Table>(&endpoint.value.data);
    if (keys == nullptr) return Complaint(endpoint.name + ": expected " + expected, endpoint.line);
    for (const ConfigEntry& key : *keys) {
        const bool is_url = key.name == "url";
        if (!is_url && key.name != "secrets")
            return Complaint(
                fmt::format("{}.{}: unknown key: expected url or secrets", endpoint.name, key.name),
                key.line);
        const ConfigKind kind = is_url ? url_of(endpoint.name) : secrets_of(endpoint.name);
        if (auto problem = kind.read(config, key.value))
            return Complaint(fmt::format("{}.{}: {}", endpoint.name, key.name, problem->text), key.line);
    }
    const auto& made = config.extensions.edit<WebhookSection>().endpoints[endpoint.name];
    if (made.url.empty() || made.secrets.empty())
        return Complaint(
            fmt::format("{}: {} is missing", endpoint.name, made.url.empty() ? "url" : "secrets"),
            endpoint.line);
    return {};
}

/// `[webhook.endpoints.<name>]`.
ConfigKind endpoints() {
    ConfigKind kind;
    kind.written = ConfigKind::Written::table;
    kind.expected = "tables [webhook.endpoints.<name>] with url and secrets";
    kind.sample =
        "# [webhook.endpoints.ci]\n# url = \"https://ci.example.com/hooks/epilogue\"\n"
        "# secrets = [\"env:CI_WEBHOOK_SECRET\"]\n";
    kind.read = [expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* names = std::get_if<ConfigValue::Table>(&value.data);
        if (names == nullptr) return Complaint("expected " + expected);
        config.extensions.edit<WebhookSection>().endpoints.clear();
        for (const ConfigEntry& endpoint : *names)
            if (auto problem = read_endpoint(config, endpoint, expected)) return problem;
        return {};
    };
    kind.resolve = [](Config& config, const Environment& environment) -> Problem {
        std::vector<std::string> names;
        for (const auto& [name, endpoint] : config.extensions.get<WebhookSection>().endpoints)
            names.push_back(name);
        for (const std::string& name : names)
            if (const auto problem = secrets_of(name).resolve(config, environment))
                return Complaint(fmt::format("{}: secrets: {}", name, problem->text));
        return {};
    };
    return kind;
}

}  // namespace

ConfigSection webhook_section() {
    return {
        "webhook",
        "Posts to receivers of your own, signed as Standard Webhooks has it.",
        {
            {"secrets", signing_secrets(place(&WebhookSection::secrets)),
             "Sign what goes to an address that a row names: \"whsec_…\" each. Two while receivers change "
             "from one to the other. []: such posts wait. Rows lead to public addresses, and to [egress] "
             "allow."},
            {"endpoints", endpoints(),
             "Receivers that rows name: {\"endpoint\": \"ci\"}. Each may be internal, and has secrets of "
             "its own."},
        }};
}

}  // namespace epilogue
