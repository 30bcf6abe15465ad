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

relay::RecordMaker followed_records(const Config::Relay& settings, relay::DoorObserver observer,
                                    std::function<std::size_t()> max_event_bytes) {
    return [records = relay::TopicRecords(settings.leave_out), observer = std::move(observer),
            max_event_bytes = std::move(max_event_bytes)](
               const relay::FollowedEvent& event) -> std::optional<relay::TopicRecord> {
        auto made = records.make(door_event_of(event), max_event_bytes());
        if (auto* record = std::get_if<relay::MadeRecord>(&made)) {
            if (record->is_trimmed) observer.trimmed(relay::Door::follower);
            return std::move(record->record);
        }
        const bool is_json = !std::holds_alternative<relay::NoEvent>(made);
        observer.events(relay::Door::follower, is_json ? relay::Outcome::left_out : relay::Outcome::invalid,
                        1);
        return std::nullopt;
    };
}

FollowedTopic::FollowedTopic(relay::Topic& topic, relay::DoorObserver observer)
    : topic_(topic), observer_(std::make_shared<const relay::DoorObserver>(std::move(observer))) {}

bool FollowedTopic::produce(relay::TopicRecord record, Settled settled) {
    const bool is_taken = topic_.produce(
        std::move(record), [observer = observer_, settled = std::move(settled)](const Result<void>& answer) {
            observer->events(relay::Door::follower,
                             answer ? relay::Outcome::acknowledged : relay::Outcome::failed, 1);
            settled(answer);
        });
    if (!is_taken) observer_->events(relay::Door::follower, relay::Outcome::no_room, 1);
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
