#include "agent/event_list.h"

#include <algorithm>
#include <utility>

namespace epilogue::agent {

void EventList::insert(const EventRef& event) {
    // From the back: an event is nearly always the newest.
    auto place = events_.end();
    if (order_ == LogOrder::by_time)
        while (place != events_.begin() && (*std::prev(place))->timestamp > event->timestamp) --place;
    events_.insert(place, event);
}

bool EventList::add(const EventRef& event) {
    if (!event->is_stored() || !ids_.insert(event->id).second) return false;
    insert(event);
    return true;
}

std::vector<EventRef> EventList::reconcile(const std::vector<EventRef>& log) {
    const std::string end = settled_end();
    const bool goes_on = !end.empty() && !log.empty() && log.front()->id == end;
    const std::vector<EventRef> before = std::exchange(events_, {});
    const std::unordered_set<std::string> known = std::exchange(ids_, {});
    std::vector<EventRef> fresh;
    const auto take = [&](const EventRef& event) {
        if (!ids_.insert(event->id).second) return;  // pages shift while a log grows
        events_.push_back(event);
        if (!known.contains(event->id)) fresh.push_back(event);
    };
    if (goes_on) std::for_each_n(before.begin(), settled_, take);
    std::for_each(log.begin(), log.end(), take);
    settled_ = events_.size();
    for (const EventRef& event : before) static_cast<void>(add(event));
    return fresh;
}

std::string EventList::settled_end() const {
    return order_ == LogOrder::by_time || settled_ == 0 ? "" : events_[settled_ - 1]->id;
}

EventRef EventList::at(std::ptrdiff_t index) const {
    const auto size = static_cast<std::ptrdiff_t>(events_.size());
    if (index < 0) index += size;
    return index >= 0 && index < size ? events_[static_cast<std::size_t>(index)] : nullptr;
}

std::vector<EventRef> EventList::slice(std::ptrdiff_t begin, std::optional<std::ptrdiff_t> end) const {
    const auto size = static_cast<std::ptrdiff_t>(events_.size());
    const auto position = [size](std::ptrdiff_t index) {
        return std::clamp(index < 0 ? index + size : index, std::ptrdiff_t{0}, size);
    };
    const std::ptrdiff_t from = position(begin);
    const std::ptrdiff_t to = std::max(from, position(end.value_or(size)));
    return {events_.begin() + from, events_.begin() + to};
}

}  // namespace epilogue::agent
