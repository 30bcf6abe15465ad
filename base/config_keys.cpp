#include "base/config_keys.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "base/egress.h"

namespace epilogue {
namespace {

constexpr std::int64_t second = 1;
constexpr std::int64_t hour = 3600 * second;
constexpr std::int64_t year = 365 * 24 * hour;
constexpr std::int64_t ten_years_in_days = 3650;

ConfigSection kafka_section() {
    const auto at = [](auto field) { return place(&Config::kafka, field); };
    using Kafka = Config::Kafka;
    return {
        "kafka",
        "Where the events come from.",
        {
            {"brokers", required_text(at(&Kafka::brokers)),
             "Bootstrap servers, host:port, separated by commas."},
            {"topic", required_text(at(&Kafka::topic)), "The topic of the conversations' events."},
            {"group", required_text(at(&Kafka::group)), "The consumer group that all workers share."},
            {"start", choice(&Config::kafka, &Kafka::start, {"earliest", "latest", "error"}),
             "Where to begin in a partition never seen before, without a committed offset."},
            {"dead_letter_topic", any_text(at(&Kafka::dead_letter_topic)),
             "Also produce records that could not be used to this topic; \"\": only keep them in the table."},
            {"oauth_token_command", any_text(at(&Kafka::oauth_token_command)),
             "A shell command that prints a token for SASL OAUTHBEARER: a JWT, or {\"access_token\": …, "
             "\"expires_in\": seconds}. It is run again before the token expires."},
            {"properties", kafka_properties(at(&Kafka::properties)),
             "Any librdkafka property (TLS, SASL, …), e.g. {\"security.protocol\" = \"SSL\"}. Our defaults: "
             "session.timeout.ms = 10000, max.poll.interval.ms = 60000. enable.auto.*, group.id and "
             "bootstrap.servers cannot be set here. Passwords may be written as secrets."},
        }};
}

ConfigSection database_section() {
    const auto at = [](auto field) { return place(&Config::database, field); };
    using Database = Config::Database;
    return {
        "database",
        "MySQL 8 or MariaDB 10.11. Holds the state and the position in the topic.",
        {
            {"host", any_text(at(&Database::host)), "Name or address of the server."},
            {"port", number(&Config::database, &Database::port, 1, 65535), "TCP port of the server."},
            {"socket", any_text(at(&Database::socket)), "A Unix socket; wins over host and port when set."},
            {"user", required_text(at(&Database::user)),
             "Account; `migrate` needs the right to create tables."},
            {"password", secret(at(&Database::password)), "Password of that account."},
            {"name", required_text(at(&Database::name)), "The database (schema) that holds the tables."},
            {"tls", choice(&Config::database, &Database::tls, {"off", "preferred", "required", "verified"}),
             "\"required\" refuses a connection that is not encrypted, \"verified\" also a server whose "
             "certificate "
             "is not of tls_ca or does not name the host."},
            {"tls_ca", any_text(at(&Database::tls_ca)),
             "PEM file of the authorities that \"verified\" trusts; empty: the system's."},
            {"tls_certificate", any_text(at(&Database::tls_certificate)),
             "PEM file of our own certificate, where the account wants one (REQUIRE X509)."},
            {"tls_key", any_text(at(&Database::tls_key)), "PEM file of that certificate's key."},
        }};
}

ConfigSection security_section() {
    return {"security",
            "Keys that sign our posts and seal what is secret in the tables.",
            {
                {"keys", security_keys(place(&Config::security, &Config::Security::keys)),
                 "e.g. [\"file:/run/secrets/epilogue.key\"], made by `epilogue keygen`. The first signs and "
                 "seals, all "
                 "of them verify and open. Needed for any sink but `log`."},
            }};
}

ConfigSection worker_section() {
    const auto at = [](auto field) { return place(&Config::worker, field); };
    const auto range = [](auto field, std::int64_t low, std::int64_t high) {
        return number(&Config::worker, field, low, high);
    };
    using Worker = Config::Worker;
    return {
        "worker",
        "The process that consumes, decides, stores and posts.",
        {
            {"batch_max_records", range(&Worker::batch_max_records, 1, 1000000),
             "Records in one transaction, at most."},
            {"batch_max_bytes", range(&Worker::batch_max_bytes, 1024, std::int64_t{1} << 30U),
             "Bytes in one transaction, at most."},
            {"batch_max_wait_ms", range(&Worker::batch_max_wait, 0, 60000),
             "How long a batch may grow while records keep coming; an empty queue flushes at once."},
            {"appliers", range(&Worker::appliers, 0, 256),
             "Partitions that are worked on at the same time, at most; 0: one for each processor."},
            {"senders", range(&Worker::senders, 1, 1024),
             "Posts in flight, at most; no sink may hold more than half of them."},
            {"http_timeout_s", range(&Worker::http_timeout, 1, 600),
             "Total time of one request; must be under half of lease_s."},
            {"lease_s", range(&Worker::lease, 2, 3600), "How long a worker owns a delivery it has claimed."},
            {"settle_ms", range(&Worker::settle, 0, 600000),
             "How long a silent `finished` must stand before it counts."},
            {"hook_wait_s", range(&Worker::hook_wait, 0, year),
             "How long a `finished` of a conversation with a stop hook waits for the hook's verdict."},
            {"inactivity_timeout_s", range(&Worker::inactivity_timeout, 1, year),
             "An open turn without any event for this long ends as `timeout`."},
            {"timeout_storm", choice(&Config::worker, &Worker::timeout_storm, {"hold", "post"}),
             "When very many turns time out at once: hold them back, or post them all."},
            {"adopt_max_age_s", range(&Worker::adopt_max_age, 0, 10 * year),
             "Callbacks older than this at the first `migrate` are adopted dormant."},
            {"drain_s", range(&Worker::drain, 1, 600), "Time to finish what is under way after SIGTERM."},
            {"http_listen", listen_address(at(&Worker::http_listen)),
             "Metrics, health and the callback API; port 0 lets the system choose."},
            {"api_key", secret(at(&Worker::api_key)),
             "For the callback API and everything that shows text; \"\": these are off."},
        }};
}

ConfigSection agent_server_section() {
    using AgentServer = Config::AgentServer;
    return {
        "agent_server",
        "The OpenHands agent server of conversations without an address of their own: asked for last words.",
        {
            {"url", optional_url(place(&Config::agent_server, &AgentServer::url)), "Its base URL."},
            {"session_api_key", secret(place(&Config::agent_server, &AgentServer::session_api_key)),
             "Its session key."},
        }};
}

ConfigSection relay_section() {
    const auto at = [](auto field) { return place(&Config::relay, field); };
    const auto range = [](auto field, std::int64_t low, std::int64_t high) {
        return number(&Config::relay, field, low, high);
    };
    using Relay = Config::Relay;
    constexpr std::int64_t mib = 1048576;
    return {
        "relay",
        "The process that brings the events of agent servers into the topic.",
        {
            {"http_listen", listen_address(at(&Relay::http_listen)),
             "Where agent servers post (OH_WEBHOOKS), and its metrics and health; port 0 lets the system "
             "choose."},
            {"keys", secrets(at(&Relay::keys)),
             "Session keys of the agent servers that may post, e.g. [\"env:SERVER_A\"], one entry a server: "
             "a conversation belongs to the entry that told of it first. An entry may hold several keys, "
             "separated by blanks, while one takes the place of another. []: webhooks are off."},
            {"leave_out",
             words(at(&Relay::leave_out),
                   "a list of event kinds, without those that can open, end or revoke a turn",
                   {"MessageEvent", "ActionEvent", "ObservationEvent", "ConversationStateUpdateEvent",
                    "ConversationErrorEvent", "HookExecutionEvent", "AgentErrorEvent"}),
             "Kinds of events that do not go into the topic: those that no server's log holds."},
            {"max_event_bytes", range(&Relay::max_event_bytes, mib / 4, 16 * mib),
             "Larger events are trimmed, their longest strings first; what the topic takes is the limit "
             "where "
             "it is lower."},
            {"buffer_bytes", range(&Relay::buffer_bytes, mib, 1024 * mib),
             "Bytes of requests being read, and of events on their way to Kafka, at most of each; above it "
             "webhooks are answered 503."},
            {"threads", range(&Relay::threads, 1, 64), "Threads that serve all connections."},
            {"servers", agent_servers(at(&Relay::servers)),
             "Agent servers that the relay can reach, each with the session key that it asks for (\"\": "
             "none). With all = true every conversation of the server is followed. Without it those that a "
             "callback waits for and whose address says that server; and what webhooks with that key bring "
             "is compared with its logs."},
            {"app_servers", app_servers(at(&Relay::app_servers)),
             "OpenHands app servers (OpenHands Cloud is one) whose conversations are read by their API, each "
             "with an API key (\"\": it asks for none) and, where the key belongs to several, the id of an "
             "organisation. Where a conversation's sandbox answers, its agent server is followed as well."},
        }};
}

ConfigSection egress_section() {
    return {
        "egress",
        "Where requests may go whose address comes from a row or a registration: to public addresses, and "
        "there.",
        {
            {"allow",
             checked_words(place(&Config::egress, &Config::Egress::allow),
                           "a list of networks (\"10.1.0.0/16\"), addresses, hosts or host:port",
                           &EgressRules::is_entry),
             "Internal receivers and agent servers. What this file itself names (api_url, url of a server "
             "or an endpoint) needs no entry."},
            {"guard_agent_urls", flag(place(&Config::egress, &Config::Egress::guard_agent_urls)),
             "It holds for agent servers that registrations name (agent_url), and not for webhooks alone. "
             "Where "
             "they run in an internal network, which most do, list that network in allow first."},
        }};
}

ConfigSection retention_section() {
    const auto days = [](auto field) { return number(&Config::retention, field, 1, ten_years_in_days); };
    using Retention = Config::Retention;
    return {"retention",
            "How many days the tables keep what is over.",
            {
                {"bodies_days", days(&Retention::bodies), "Texts of posts."},
                {"ledger_days", days(&Retention::ledger),
                 "Rows that prove a post was made; keep them longer than the topic keeps its events."},
                {"conversations_days", days(&Retention::conversations), "Conversations without a callback."},
                {"dead_letters_days", days(&Retention::dead_letters), "Records that could not be used."},
            }};
}

ConfigSection log_section() {
    using Log = Config::Log;
    return {"log",
            "Lines on standard error.",
            {
                {"level", choice(&Config::log, &Log::level, {"debug", "info", "warn", "error"}),
                 "The least to show."},
                {"format", choice(&Config::log, &Log::format, {"text", "json"}), "json: one object a line."},
            }};
}

/// Longer words are no typing mistakes.
constexpr std::size_t longest_word = 64;

/// Letters to add, drop or change to make `b` (at most longest_word long) of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::array<std::size_t, longest_word + 1> row{};
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0U : 1U);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

const ConfigKey* ConfigSection::find(std::string_view key) const {
    const auto found = std::ranges::find(keys, key, &ConfigKey::name);
    return found == keys.end() ? nullptr : &*found;
}

ConfigSchema::ConfigSchema(DeclaredSections declared)
    : sections_{kafka_section(), database_section(), security_section(), worker_section()} {
    std::ranges::move(declared.summary, std::back_inserter(sections_));
    sections_.push_back(agent_server_section());
    sections_.push_back(relay_section());
    std::ranges::move(declared.sinks, std::back_inserter(sections_));
    sections_.push_back(egress_section());
    sections_.push_back(retention_section());
    sections_.push_back(log_section());
}

const ConfigSection* ConfigSchema::find(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &ConfigSection::name);
    return found == sections_.end() ? nullptr : &*found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
    if (known.empty() || word.size() > longest_word) return "";
    const auto distance = [&](std::string_view candidate) { return edit_distance(candidate, word); };
    const auto nearest = std::ranges::min(known, {}, distance);
    if (distance(nearest) > 2) return "";
    return "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace epilogue
