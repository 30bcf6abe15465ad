// The settings of contract §2: defaults < file < environment < flags, checked as a whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_environment.h"
#include "base/config_extensions.h"
#include "base/hook_wait.h"
#include "base/log_level.h"
#include "base/result.h"
#include "base/secret.h"

namespace epilogue {

/// Where reading starts in a partition that has neither a stored position nor a committed offset; `error`: it
/// does not, until the setting is changed.
enum class OffsetReset { earliest, latest, error };

enum class DatabaseTls { off, preferred, required, verified };

/// What happens to turns that time out all at once (contract §4a).
enum class TimeoutStorm { hold, post };

class ConfigSchema;  // base/config_keys.h: the sections that there are

/// One member per section and key of the file, with the contract's defaults; docs stand in config_keys.cpp
/// and ops/epilogue.example.toml. Units are in the types, so the keys' suffixes (_s, _ms, _days) fall away.
struct Config {
    struct Kafka {
        std::string brokers = "127.0.0.1:9092";
        std::string topic = "conversation.events";
        std::string group = "epilogue";
        OffsetReset start = OffsetReset::earliest;
        std::string dead_letter_topic;
        std::string oauth_token_command;
        std::map<std::string, std::string> properties;  ///< may hold passwords: never log the values
        bool operator==(const Kafka&) const = default;
    };
    struct Database {
        std::string host = "127.0.0.1";
        std::uint16_t port = 3306;
        std::string socket;
        std::string user = "epilogue";
        Secret password;
        std::string name = "epilogue";
        DatabaseTls tls = DatabaseTls::preferred;
        std::string tls_ca;
        std::string tls_certificate;
        std::string tls_key;
        bool operator==(const Database&) const = default;
    };
    struct Security {
        std::vector<Secret>
            keys;  ///< each reveals the key's bytes (key_bytes), not the text it was written as
        bool operator==(const Security&) const = default;
    };
    struct Worker {
        std::size_t batch_max_records = 5000;
        std::size_t batch_max_bytes = 8388608;
        std::chrono::milliseconds batch_max_wait{50};
        int appliers = 0;
        int senders = 32;
        std::chrono::seconds http_timeout{20};
        std::chrono::seconds lease{60};
        std::chrono::milliseconds settle{2000};
        std::chrono::seconds hook_wait{default_hook_wait};
        std::chrono::seconds inactivity_timeout{7200};
        TimeoutStorm timeout_storm = TimeoutStorm::hold;
        std::chrono::seconds adopt_max_age{86400};
        std::chrono::seconds drain{25};
        std::string http_listen = "127.0.0.1:9464";
        Secret api_key;
        bool operator==(const Worker&) const = default;
    };
    struct AgentServer {
        std::string url;
        Secret session_api_key;
        bool operator==(const AgentServer&) const = default;
    };
    struct Relay {
        struct Server {
            std::string url;
            Secret key;
            bool all = false;
            bool operator==(const Server&) const = default;
        };
        struct AppServer {
            std::string url;
            Secret key;
            std::string org;
            bool operator==(const AppServer&) const = default;
        };
        std::string http_listen = "127.0.0.1:9465";
        std::vector<Secret> keys;
        std::vector<std::string> leave_out{"StreamingDeltaEvent", "LLMCompletionLogEvent"};
        std::size_t max_event_bytes = std::size_t{16} << 20U;
        std::size_t buffer_bytes = std::size_t{64} << 20U;
        int threads = 2;
        std::vector<Server> servers;
        std::vector<AppServer> app_servers;
        bool operator==(const Relay&) const = default;
    };
    struct Egress {
        std::vector<std::string> allow;  ///< each as EgressRules reads it
        bool guard_agent_urls = false;
        bool operator==(const Egress&) const = default;
    };
    struct Retention {
        std::chrono::days bodies{30};
        std::chrono::days ledger{400};
        std::chrono::days conversations{90};
        std::chrono::days dead_letters{30};
        bool operator==(const Retention&) const = default;
    };
    struct Log {
        LogLevel level = LogLevel::info;
        LogFormat format = LogFormat::text;
        bool operator==(const Log&) const = default;
    };

    Kafka kafka;
    Database database;
    Security security;
    Worker worker;
    AgentServer agent_server;
    Relay relay;
    Egress egress;
    Retention retention;
    Log log;
    ConfigExtensions extensions;            ///< the sinks' and summary sources' sections
    std::vector<std::string> secret_files;  ///< paths of the files that secrets were read from
    bool operator==(const Config&) const = default;
};

/// Defaults, then `file` when given, then the variables EPILOGUE_<SECTION>_<KEY>; secrets resolved,
/// everything checked. Strings in variables are taken as they are, `keys` and `sources` as a TOML array or a
/// comma list, tables as a TOML inline table; a token of a table of tokens also as
/// EPILOGUE_<SECTION>_<KEY>_<NAME>_TOKEN. A variable with the name of a section but of no key of it is an
/// error, any other variable is ignored. Errors are fatal (exit code 78) and name file, line, key and what
/// was expected, never a secret.
Result<Config> load_config(const std::optional<std::string>& file, const Environment& environment,
                           const ConfigSchema& schema);

/// Sets one key, as a flag does: `key` is "section.key", `value` as in a variable. Checks the value alone:
/// call validate_for_use when all flags are set. Errors are fatal and start with `key`.
Result<void> set_key(Config& config, std::string_view key, std::string_view value,
                     const Environment& environment, const ConfigSchema& schema);

/// Fatal when settings contradict each other, or when a sink has a token but `[security] keys` is empty
/// (what `check` reports, and what no command that works with deliveries starts with).
Result<void> validate_for_use(const Config& config, const ConfigSchema& schema);

/// ops/epilogue.example.toml: each key with its meaning, its range and its default.
std::string example_toml(const ConfigSchema& schema);

struct ListenAddress {
    std::string host;  ///< without the brackets of an IPv6 address
    std::uint16_t port = 0;
};

/// Reads "host:port" or "[v6]:port"; port 0 lets the system choose. nullopt when the text has another form.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace epilogue
