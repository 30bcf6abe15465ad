#include "bench/recorded_traffic.h"

#include "base/ids.h"

namespace epilogue::bench {
namespace {

/// As a relay hears them. One is left out: its single event of 500 kB would be a third of all bytes.
bool is_told(const std::string& recording) {
    return recording.starts_with("v1.58.0/conversations/") && recording.ends_with(".ws.jsonl") &&
           recording.find("_big") == std::string::npos;
}

}  // namespace

Traffic::Traffic(std::string name, std::size_t live) : name_(std::move(name)) {
    for (const auto& recording : testing::recordings())
        if (is_told(recording.recording)) stories_.push_back(&recording);
    // They stand at different places of their stories, as live ones do.
    for (std::size_t i = 0; i < live; ++i) {
        live_.push_back(begin());
        live_.back().told = i % live_.back().story->events.size();
    }
}

Traffic::Live Traffic::begin() {
    const std::size_t number = begun_++;
    return {number, stories_[number % stories_.size()], 0};
}

std::string Traffic::id(std::size_t number) const {
    constexpr std::size_t id_length = 32;
    return sha256_hex(name_ + std::to_string(number)).substr(0, id_length);
}

Traffic::Event Traffic::next() {
    Live& now = live_[turn_++ % live_.size()];
    if (now.told == now.story->events.size()) now = begin();
    return {id(now.number), now.story->events[now.told++]};
}

}  // namespace epilogue::bench
