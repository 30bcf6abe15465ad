#include "tests/sim/schedule.h"

#include <algorithm>
#include <cstdio>

namespace epilogue::sim {

void Trace::line(Micros at, std::string_view text) {
    const std::string whole = fmt::format("{:>13.6f} {}\n", static_cast<double>(at.count()) / 1e6, text);
    for (const char byte : whole) {
        hash_ ^= static_cast<unsigned char>(byte);
        hash_ *= 0x100000001B3ULL;
    }
    if (level_ == Level::print) std::fputs(whole.c_str(), stdout);
}

void Schedule::at(Micros when, std::function<void()> what) {
    queue_.push_back({std::max(when, now_), sequence_++, std::move(what)});
    std::push_heap(queue_.begin(), queue_.end(), Later{});
}

bool Schedule::step(Micros until) {
    if (queue_.empty() || queue_.front().when > until) {
        now_ = std::max(now_, until);
        return false;
    }
    std::pop_heap(queue_.begin(), queue_.end(), Later{});
    Event event = std::move(queue_.back());
    queue_.pop_back();
    now_ = event.when;
    ++steps_;
    event.what();
    return true;
}

}  // namespace epilogue::sim
