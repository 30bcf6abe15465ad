#include "ops/relay/once_topic.h"

#include <utility>

#include "base/io/kafka_topic.h"
#include "ops/relay/followers.h"
#include "ops/relay/topic_watch.h"
#include "worker/settings.h"

namespace epilogue {

Result<std::unique_ptr<OnceTopic>> OnceTopic::open(const Config& config) {
    constexpr std::chrono::seconds reachable_within{8};
    const KafkaSettings kafka = kafka_settings(config);
    TRY_VOID(find_topic(kafka, config.kafka.topic, reachable_within));
    TRY(const auto facts, topic_facts(kafka, {config.kafka.topic, "", ""}, reachable_within));
    std::unique_ptr<OnceTopic> topic(new OnceTopic);
    const auto max = facts ? facts->config.find("max.message.bytes") : decltype(facts->config.end()){};
    const bool is_told = facts && max != facts->config.end();
    topic->limit_ = event_limit(config.relay.max_event_bytes, is_told ? max->second : "");
    relay::KafkaTopicRules rules;
    rules.topic = config.kafka.topic;
    rules.max_bytes = config.relay.buffer_bytes;
    TRY(topic->topic_, relay::KafkaTopic::open(kafka, std::move(rules)));
    return topic;
}

void OnceTopic::one_is_over(const Result<void>& answer) {
    ++(answer ? acknowledged_ : given_up_);
    const std::lock_guard lock(mutex_);
    if (!answer) last_error_ = answer.error().text;
    --under_way_;
    changed_.notify_all();
}

bool OnceTopic::produce(relay::TopicRecord record, Settled settled) {
    {
        const std::lock_guard lock(mutex_);
        ++under_way_;
    }
    const bool taken =
        topic_->produce(std::move(record), [this, settled = std::move(settled)](const Result<void>& answer) {
            settled(answer);
            one_is_over(answer);
        });
    if (!taken) {
        const std::lock_guard lock(mutex_);
        --under_way_;
    }
    return taken;
}

void OnceTopic::when_room(std::function<void()> listener) {
    topic_->when_room(std::move(listener));
}

void OnceTopic::produce_when_room(const relay::TopicRecord& record) {
    while (!produce(record, [](const auto&) {})) {
        bool has_room = false;
        when_room([&] {
            const std::lock_guard lock(mutex_);
            has_room = true;
            changed_.notify_all();
        });
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return has_room; });
    }
}

void OnceTopic::wait_for_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_ == 0; });
}

relay::RecordMaker OnceTopic::record_maker(const Config& config) {
    relay::DoorObserver observer;
    observer.events = [this](relay::Door, relay::Outcome outcome, std::size_t) {
        if (outcome == relay::Outcome::invalid) ++invalid_;
    };
    return followed_records(config.relay, std::move(observer), [this] { return limit_; });
}

std::string OnceTopic::last_error() const {
    const std::lock_guard lock(mutex_);
    return last_error_;
}

}  // namespace epilogue
