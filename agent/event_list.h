// The events of a conversation in the order of the server's log, each once. Pure, not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "agent/event.h"

namespace epilogue::agent {

/// An event that does not change any more: shared between the list and its readers.
using EventRef = std::shared_ptr<const RemoteEvent>;

/// How a server orders its log, and with it where an event belongs that the log was not read for.
enum class LogOrder {
    by_time,    ///< by the events' own times, and behind those of the same time
    as_written  ///< behind all that came before it, whatever its time
};

class EventList {
  public:
    explicit EventList(LogOrder order = LogOrder::by_time) : order_(order) {}

    /// Puts a stored event that is not there yet in its place. Returns whether it was new; false also for one
    /// that is not stored.
    bool add(const EventRef& event);

    /// Takes over the server's log, in its order: the whole one, or what begins with the event settled_end().
    /// What the log lacks and is here already stays, in its place: it came while the log was being read.
    /// Returns what is new here, in order.
    std::vector<EventRef> reconcile(const std::vector<EventRef>& log);

    /// True when the order of all that is here is the log's for certain: where time says it, or where nothing
    /// came since the log was read.
    bool is_settled() const { return order_ == LogOrder::by_time || settled_ == events_.size(); }

    /// The id of the last event up to which the order is the log's for certain, and will stay so; "" when a
    /// log can only be read as a whole.
    std::string settled_end() const;

    std::size_t size() const { return events_.size(); }
    bool empty() const { return events_.empty(); }
    bool contains(const std::string& id) const { return ids_.contains(id); }

    /// The event at `index`; from the end when it is negative (-1 is the last). Null when there is none.
    EventRef at(std::ptrdiff_t index) const;

    /// The events from `begin` up to `end` (not with it; nullopt: to the last), as Python's slices: negative
    /// positions count from the end, and what lies outside is left out.
    std::vector<EventRef> slice(std::ptrdiff_t begin, std::optional<std::ptrdiff_t> end = std::nullopt) const;

    auto begin() const { return events_.begin(); }
    auto end() const { return events_.end(); }

  private:
    void insert(const EventRef& event);

    LogOrder order_;
    std::vector<EventRef> events_;
    std::size_t settled_ = 0;  ///< so many of them, as they were read; where time orders, unused
    std::unordered_set<std::string> ids_;
};

}  // namespace epilogue::agent
