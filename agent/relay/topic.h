// The topic as the relay's doors write to it. A door tells its source that an event is kept, or moves a
// position on, only after the topic has acknowledged it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace epilogue::relay {

/// One record on its way into the topic.
struct TopicRecord {
    ConversationId conversation_id;  ///< the key
    std::string value;               ///< the event as JSON, within the topic's limit
    std::vector<std::pair<std::string, std::string>> headers{};
};

/// Thread-safe. Records of one conversation reach the topic in the order in which they were taken.
class Topic {
  public:
    virtual ~Topic() = default;

    /// Called exactly once for a record that was taken, on a thread of the topic's own, and must return soon:
    /// success once all in-sync replicas have the record, else why it is given up.
    using Settled = std::function<void(Result<void>)>;

    /// Takes the record and answers true. False: as many bytes are under way as there may be, nothing was
    /// taken, and `settled` is not called.
    virtual bool produce(TopicRecord record, Settled settled) = 0;

    /// Calls `listener` once, on a thread of the topic's own, as soon as there is room again after a
    /// produce() that was refused; at once when there is room already.
    virtual void when_room(std::function<void()> listener) = 0;
};

}  // namespace epilogue::relay
