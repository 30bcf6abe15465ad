#include "ops/relay/relay.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "agent/address.h"
#include "agent/relay/app_server/app_poll.h"
#include "agent/relay/follow/follower.h"
#include "agent/relay/follow/server_listing.h"
#include "agent/relay/kafka_topic.h"
#include "agent/relay/webhook/http_server.h"
#include "agent/relay/webhook/webhook_door.h"
#include "base/io/log.h"
#include "base/process/place.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"
#include "ops/relay/compared.h"
#include "ops/relay/followers.h"
#include "ops/relay/known_servers.h"
#include "ops/relay/relay_endpoints.h"
#include "ops/relay/relay_metrics.h"
#include "ops/relay/stored_endpoints.h"
#include "ops/relay/topic_watch.h"
#include "worker/agents/agent_directory.h"
#include "worker/mysql/migrate.h"
#include "worker/mysql/mysql_store.h"
#include "worker/mysql/relay_app_rows.h"
#include "worker/mysql/relay_owners.h"
#include "worker/mysql/relay_position_rows.h"
#include "worker/observe/readiness.h"
#include "worker/settings.h"

namespace epilogue {
namespace {

/// The longest that a request can take: its body, then the topic.
constexpr std::chrono::seconds drain_within{35};

/// Says what is wrong with the database, and that it can be asked for owners again. Tables that are too old
/// are waited for, too: the relay may be started before `migrate`.
void watch_database(const Config& config, Readiness& readiness, const std::stop_token& stop) {
    constexpr std::chrono::seconds again{10};
    do {
        auto session = MysqlSession::open(mysql_settings(config));
        const auto status =
            session ? migration_status(**session) : Result<MigrationStatus>(Failure(session.error()));
        const bool is_old = status && status->present < status->needed;
        readiness.set("database", !status ? status.error().text
                                  : is_old
                                      ? "its tables are older than this version needs: run epilogue migrate"
                                      : "");
        if (status && !is_old) readiness.set("owners", "");
    } while (wait_or_stop(stop, again));
}

/// What all doors share.
class RelayProcess {
  public:
    explicit RelayProcess(const Config& config)
        : config_(config),
          store_(mysql_settings(config), {}),
          positions_store_(mysql_settings(config), {}),
          positions_(positions_store_, session_key_sealer(config.security.keys),
                     {config.agent_server.url, config.agent_server.session_api_key}, known_servers(config)),
          app_store_(mysql_settings(config), {}),
          app_positions_(app_store_, session_key_sealer(config.security.keys)) {}

    Result<void> run(const std::stop_token& stop) {
        TRY(topic_, relay::KafkaTopic::open(kafka_settings(config_), topic_rules()));
        watch_.emplace(kafka_settings(config_),
                       TopicWatchRules{config_.kafka.topic, config_.relay.max_event_bytes}, readiness_);
        followed_topic_.emplace(*topic_, metrics_.observer());
        app_topic_.emplace(*topic_, metrics_.observer(), relay::Door::app_server);
        start_comparisons();
        TRY_VOID(start_webhooks());
        start_follower();
        start_listings();
        start_app_servers();
        const auto database =
            named_thread("relay-database", [this](const auto& s) { watch_database(config_, readiness_, s); });
        wait_for_stop(stop);
        readiness_.set("relay", "draining");
        listings_.clear();
        app_polls_.clear();
        follower_->stop();
        if (comparisons_) comparisons_->stop();
        if (!server_->drain(drain_within)) {
            log_warn("the drain did not end in time: what was not answered is sent again");
            std::_Exit(0);
        }
        log_info("drained");
        return {};
    }

  private:
    relay::KafkaTopicRules topic_rules() {
        relay::KafkaTopicRules rules;
        rules.topic = config_.kafka.topic;
        rules.max_bytes = config_.relay.buffer_bytes;
        rules.settled = [this](const Result<void>& answer) {
            const bool was_acknowledging = is_acknowledging_.exchange(answer.has_value());
            if (!answer || !was_acknowledging) readiness_.set("kafka", answer ? "" : answer.error().text);
        };
        return rules;
    }

    Result<void> start_webhooks() {
        relay::WebhookRules rules;
        rules.leave_out = config_.relay.leave_out;
        rules.max_event_bytes = [this] { return watch_->max_event_bytes(); };
        rules.observer = metrics_.observer();
        rules.came = [this](const relay::CameEvent& event) {
            if (comparisons_) comparisons_->came(event);
        };
        rules.before_end = [this](const ConversationId& conversation, std::function<void()> go_on) {
            if (!comparisons_) return go_on();
            comparisons_->before_end(conversation, std::move(go_on));
        };
        rules.owners_answered = [this](const std::string& why) { readiness_.set("owners", why); };
        door_.emplace(*topic_, owners_, relay::SenderKeys(config_.relay.keys), std::move(rules));
        endpoints_.emplace(
            *door_, RelayEndpointSources{[this] { return metrics_text(); }, [this] { return missing(); }});
        const auto address = parse_listen_address(config_.relay.http_listen).value_or(ListenAddress{});
        relay::HttpServerRules http;
        http.host = address.host;
        http.port = address.port;
        http.threads = config_.relay.threads;
        http.max_body_bytes = config_.relay.buffer_bytes;
        http.answered = [this](unsigned status) { metrics_.answered(status); };
        TRY(server_, relay::HttpServer::listen(std::move(http), *endpoints_));
        log_info("listening", {{"address", address.host + ":" + std::to_string(server_->port())}});
        return {};
    }

    void start_follower() {
        auto rules = follow_rules(relay::delivery_timeout);
        // The port is ours now: the relay that had it before, and followed from here, is gone.
        rules.owner = process::place_of_listener(server_->port());
        rules.egress = agent_egress_rules(config_);
        follower_.emplace(positions_, *followed_topic_,
                          followed_records(config_.relay, metrics_.observer(),
                                           [this] { return watch_->max_event_bytes(); }),
                          std::move(rules), metrics_.follow_observer());
        follows_ = true;
    }

    void start_listings() {
        for (const auto& each : config_.relay.servers) {
            const auto address = agent::parse_address(each.url);
            if (!each.all || !address) continue;
            listings_.push_back(std::make_unique<relay::ServerListing>(
                std::make_shared<const agent::AgentServer>(*address, each.key),
                [this, url = each.url](const auto& conversations, bool is_all) {
                    return positions_.found(url, conversations, is_all);
                }));
        }
    }

    void start_app_servers() {
        for (const auto& each : config_.relay.app_servers) {
            relay::AppPollRules rules;
            rules.owner = process::place_of_listener(server_->port());
            rules.egress = agent_egress_rules(config_);
            relay::AppPollObserver observer;
            observer.make_record = stored_records(config_.relay, metrics_.observer(),
                                                  [this] { return watch_->max_event_bytes(); });
            observer.reachable = [this](const relay::AppConversation& conversation) {
                app_endpoints_.note(conversation);
            };
            const std::size_t number = app_polls_.size();
            observer.behind = [this, number](std::int64_t events, std::optional<relay::Lag::Time> since) {
                const std::lock_guard lock(app_mutex_);
                app_behind_[number] = {events, since};
            };
            app_polls_.push_back(std::make_unique<relay::AppPoll>(
                relay::AppServer::Rules{each.url, each.key, each.org}, app_positions_, *app_topic_,
                std::move(rules), std::move(observer)));
        }
    }

    DoorBehind app_behind() {
        const std::lock_guard lock(app_mutex_);
        DoorBehind all;
        const auto now = relay::Lag::Time::clock::now();
        for (const auto& [server, behind] : app_behind_) {
            all.events += behind.events;
            all.longest =
                std::max<std::chrono::duration<double>>(all.longest, now - behind.since.value_or(now));
        }
        return all;
    }

    /// Of what webhooks bring.
    void start_comparisons() {
        if (config_.relay.keys.empty()) return;
        ComparedWithLogsRules rules;
        rules.follow = rules_to_compare(follow_rules(relay::delivery_timeout));
        rules.missing = [this](const relay::MissingEvents& missing) {
            metrics_.missing({missing.found, missing.filled, missing.lost});
        };
        rules.state = [this](const relay::FollowState& state) {
            const std::lock_guard lock(compared_mutex_);
            compared_ = state;
        };
        comparisons_.emplace(
            positions_, *followed_topic_, relay::TopicRecords(config_.relay.leave_out),
            [this] { return watch_->max_event_bytes(); }, std::move(rules));
    }

    /// What requests hold, and what logs are found to have more.
    DoorBehind webhook_behind() {
        const auto waiting = door_->waiting();
        const std::lock_guard lock(compared_mutex_);
        return {static_cast<std::int64_t>(waiting.events) + compared_.behind,
                std::max<std::chrono::duration<double>>(waiting.longest, compared_.lag)};
    }

    std::string metrics_text() {
        RelayGauges gauges;
        gauges.webhook_behind = webhook_behind();
        gauges.app_server_behind = app_behind();
        gauges.bytes_under_way = topic_->bytes_under_way();
        gauges.oldest_under_way = topic_->oldest_under_way();
        gauges.is_ready = missing().empty();
        return metrics_.text(gauges);
    }

    /// What keeps the relay from its work; "": nothing.
    std::string missing() {
        readiness_.set("positions", follows_ ? follower_->trouble() : "not followed yet");
        return readiness_.missing();
    }

    const Config& config_;
    Readiness readiness_;
    RelayMetrics metrics_;
    MysqlStore store_;
    MysqlRelayOwners owners_{store_};
    MysqlStore positions_store_;
    MysqlRelayPositions positions_;
    std::atomic<bool> is_acknowledging_ = true;
    std::unique_ptr<relay::KafkaTopic> topic_;
    std::optional<TopicWatch> watch_;
    std::optional<relay::WebhookDoor> door_;
    std::optional<RelayEndpoints> endpoints_;
    std::unique_ptr<relay::HttpServer> server_;  ///< ends before what it calls
    std::optional<FollowedTopic> followed_topic_;
    std::optional<relay::Follower> follower_;
    std::atomic<bool> follows_ = false;
    std::vector<std::unique_ptr<relay::ServerListing>> listings_;
    MysqlStore app_store_;
    MysqlAppPositions app_positions_;
    std::optional<FollowedTopic> app_topic_;
    struct AppBehind {
        std::int64_t events = 0;
        std::optional<relay::Lag::Time> since{};
    };
    std::mutex app_mutex_;
    std::map<std::size_t, AppBehind> app_behind_;  ///< by app server
    /// From then on the conversation can be followed, and asked.
    StoredEndpoints app_endpoints_{[this](const relay::AppConversation& conversation) {
        return app_positions_.save_endpoint(conversation.id, conversation.agent_url,
                                            conversation.session_key);
    }};
    std::vector<std::unique_ptr<relay::AppPoll>> app_polls_;
    std::mutex compared_mutex_;
    relay::FollowState compared_;
    std::optional<ComparedWithLogs> comparisons_;
};

}  // namespace

Result<void> run_relay(const Config& config, const std::stop_token& stop) {
    return RelayProcess(config).run(stop);
}

}  // namespace epilogue
