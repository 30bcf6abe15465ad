// The doors at which the relay reads by itself, put together from the configuration.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "agent/relay/follow/follow_rules.h"
#include "agent/relay/follow/follower.h"
#include "agent/relay/observer.h"
#include "agent/relay/topic.h"
#include "agent/relay/topic_record.h"
#include "base/config.h"

namespace epilogue {

/// The event as the follower's door has it.
relay::DoorEvent door_event_of(const relay::FollowedEvent& event);

/// What makes a followed event's record, within `max_event_bytes()` bytes; tells `observer` of what it leaves
/// out and trims. Thread-safe.
relay::RecordMaker followed_records(const Config::Relay& settings, relay::DoorObserver observer,
                                    std::function<std::size_t()> max_event_bytes);

/// What makes the record of an event that an app server has stored; else as followed_records().
std::function<std::optional<relay::TopicRecord>(const ConversationId&, std::string_view json)> stored_records(
    const Config::Relay& settings, relay::DoorObserver observer,
    std::function<std::size_t()> max_event_bytes);

/// A topic whose records come by that door: tells `observer` what became of each.
class FollowedTopic final : public relay::Topic {
  public:
    /// `topic` outlives it, and every record that was taken by it.
    FollowedTopic(relay::Topic& topic, relay::DoorObserver observer,
                  relay::Door door = relay::Door::follower);

    bool produce(relay::TopicRecord record, Settled settled) override;
    void when_room(std::function<void()> listener) override;

  private:
    relay::Topic& topic_;
    const relay::Door door_;
    const std::shared_ptr<const relay::DoorObserver> observer_;
};

/// The rules of a relay whose topic gives a record up after `delivered_within`.
relay::FollowRules follow_rules(std::chrono::milliseconds delivered_within);

}  // namespace epilogue
