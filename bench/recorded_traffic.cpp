#include "bench/recorded_traffic.h"

#include "base/ids.h"

namespace epilogue::bench {
namespace {

/// As a relay hears them. One is left out: its single event of 500 kB would be a third of all bytes.
bool is_replayed(const std::string& recording) {
    return recording.starts_with("v1.58.0/conversations/") && recording.ends_with(".ws.jsonl") &&
           recording.find("_big") == std::string::npos;
}

}  // namespace

RecordedTraffic::RecordedTraffic(std::string name, std::size_t live) : name_(std::move(name)) {
    for (const auto& recording : testing::recordings())
        if (is_replayed(recording.recording)) recordings_.push_back(&recording);
    // They are at different events of their recordings, as live ones are.
    for (std::size_t i = 0; i < live; ++i) {
        live_.push_back(begin());
        live_.back().next_event = i % live_.back().recording->events.size();
    }
}

RecordedTraffic::Live RecordedTraffic::begin() {
    const std::size_t number = begun_++;
    return {number, recordings_[number % recordings_.size()], 0};
}

std::string RecordedTraffic::id(std::size_t number) const {
    constexpr std::size_t id_length = 32;
    return sha256_hex(name_ + std::to_string(number)).substr(0, id_length);
}

RecordedTraffic::Event RecordedTraffic::next() {
    Live& now = live_[turn_++ % live_.size()];
    if (now.next_event == now.recording->events.size()) now = begin();
    return {id(now.number), now.recording->events[now.next_event++]};
}

}  // namespace epilogue::bench
