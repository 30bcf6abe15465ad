#include "bench/recorded_traffic.h"

#include "base/ids.h"

namespace epilogue::bench {
namespace {

/// As a relay hears them. One is left out: its single event of 500 kB would be a third of all bytes.
bool is_replayed(const std::string& recording) {
    return recording.starts_with("v1.58.0/conversations/") && recording.ends_with(".ws.jsonl") &&
           recording.find("_big") == std::string::npos;
}

std::set<std::size_t> ends_of(const testing::RecordedConversation& recording) {
    std::set<std::size_t> ends;
    for (const auto& turn : recording.turns)
        for (std::size_t i = 0; i < recording.events.size(); ++i)
            if (!turn.status_event.empty() &&
                recording.events[i].find("\"id\":\"" + turn.status_event + '"') != std::string::npos)
                ends.insert(i);
    return ends;
}

}  // namespace

RecordedTraffic::RecordedTraffic(std::string name, std::size_t live) : name_(std::move(name)) {
    for (const auto& recording : testing::recordings())
        if (is_replayed(recording.recording)) recordings_.push_back({&recording, ends_of(recording)});
    // They are at different events of their recordings, as live ones are.
    for (std::size_t i = 0; i < live; ++i) {
        live_.push_back(begin());
        live_.back().next_event = i % live_.back().replayed->recording->events.size();
        live_.back().is_whole = live_.back().next_event == 0;
    }
}

RecordedTraffic::Live RecordedTraffic::begin() {
    const std::size_t number = begun_++;
    return {number, &recordings_[number % recordings_.size()], 0};
}

std::string RecordedTraffic::id(std::size_t number) const {
    constexpr std::size_t id_length = 32;
    return sha256_hex(name_ + std::to_string(number)).substr(0, id_length);
}

RecordedTraffic::Event RecordedTraffic::next() {
    Live& now = live_[turn_++ % live_.size()];
    if (now.next_event == now.replayed->recording->events.size()) now = begin();
    const std::size_t index = now.next_event++;
    const Event event{id(now.number), now.replayed->recording->events[index]};
    if (now.is_whole) ends_[event.conversation_id] += now.replayed->ends.count(index);
    return event;
}

}  // namespace epilogue::bench
