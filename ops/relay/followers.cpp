#include "ops/relay/followers.h"

#include <utility>
#include <variant>

namespace epilogue {

relay::DoorEvent door_event_of(const relay::FollowedEvent& event) {
    relay::DoorEvent given;
    given.conversation_id = event.conversation_id;
    given.json = event.json;
    given.door = relay::Door::follower;
    given.seq = event.seq;
    given.full_state = event.run_over ? relay::FullState::ends_run : relay::FullState::begins_subscription;
    return given;
}

namespace {

/// The record. nullopt when the topic cannot take it; `observer` is told so.
std::optional<relay::TopicRecord> kept(relay::RecordOrNot made, relay::Door door,
                                       const relay::DoorObserver& observer) {
    if (auto* record = std::get_if<relay::MadeRecord>(&made)) {
        if (record->is_trimmed) observer.trimmed(door);
        return std::move(record->record);
    }
    const bool is_json = !std::holds_alternative<relay::NoEvent>(made);
    observer.events(door, is_json ? relay::Outcome::left_out : relay::Outcome::invalid, 1);
    return std::nullopt;
}

}  // namespace

relay::RecordMaker followed_records(const Config::Relay& settings, relay::DoorObserver observer,
                                    std::function<std::size_t()> max_event_bytes) {
    return [records = relay::TopicRecords(settings.leave_out), observer = std::move(observer),
            max_event_bytes = std::move(max_event_bytes)](const relay::FollowedEvent& event) {
        return kept(records.make(door_event_of(event), max_event_bytes()), relay::Door::follower, observer);
    };
}

std::function<std::optional<relay::TopicRecord>(const ConversationId&, std::string_view json)> stored_records(
    const Config::Relay& settings, relay::DoorObserver observer,
    std::function<std::size_t()> max_event_bytes) {
    return [records = relay::TopicRecords(settings.leave_out), observer = std::move(observer),
            max_event_bytes = std::move(max_event_bytes)](const ConversationId& conversation,
                                                          std::string_view json) {
        // It has what webhooks told it.
        relay::DoorEvent event;
        event.conversation_id = conversation;
        event.json = json;
        event.door = relay::Door::app_server;
        return kept(records.make(event, max_event_bytes()), relay::Door::app_server, observer);
    };
}

FollowedTopic::FollowedTopic(relay::Topic& topic, relay::DoorObserver observer, relay::Door door)
    : topic_(topic),
      door_(door),
      observer_(std::make_shared<const relay::DoorObserver>(std::move(observer))) {}

bool FollowedTopic::produce(relay::TopicRecord record, Settled settled) {
    const bool is_taken = topic_.produce(
        std::move(record),
        [observer = observer_, door = door_, settled = std::move(settled)](const Result<void>& answer) {
            observer->events(door, answer ? relay::Outcome::acknowledged : relay::Outcome::failed, 1);
            settled(answer);
        });
    if (!is_taken) observer_->events(door_, relay::Outcome::no_room, 1);
    return is_taken;
}

void FollowedTopic::when_room(std::function<void()> listener) {
    topic_.when_room(std::move(listener));
}

relay::FollowRules follow_rules(std::chrono::milliseconds delivered_within) {
    // Until the topic tells of a record that it gave up some time passes after that, too.
    constexpr std::chrono::seconds to_be_told{5};
    relay::FollowRules rules;
    rules.delivery = delivered_within + to_be_told;
    return rules;
}

}  // namespace epilogue
