// From what a door was given to a record of the topic: pure, and the same for all doors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent/relay/door.h"
#include "agent/relay/topic.h"
#include "base/ids.h"

namespace epilogue::relay {

/// What a V1 `full_state` that a door was given means.
enum class FullState {
    begins_subscription,  ///< a snapshot: it says nothing of a run
    ends_run,             ///< the server sent it because a run is over
    by_status,            ///< the door cannot tell: a status that ends a run says that one is over
};

/// One event as it came.
struct DoorEvent {
    ConversationId conversation_id;  ///< normalised
    std::string_view json;           ///< the event; of V0 or V1
    Door door = Door::webhook;
    std::optional<std::int64_t> seq{};  ///< its index in the server's log, where the door knows it
    std::string traceparent{};          ///< "": none
    FullState full_state = FullState::by_status;
};

/// Why an event makes no record, though nothing is wrong with it.
enum class LeftOut {
    unwanted_kind,  ///< [relay] leave_out
    snapshot,       ///< a `full_state` that does not end a run: no server's log holds it
};

/// Why an event makes no record: it is no JSON.
struct NoEvent {
    std::string why;  ///< never holds the text itself
};

struct MadeRecord {
    TopicRecord record;
    bool is_trimmed = false;
    std::string event_id{};  ///< "": it says none
    bool ends_run = false;   ///< it says that a run is over
};
using RecordOrNot = std::variant<MadeRecord, LeftOut, NoEvent>;

/// Makes records; each thread reuses buffers of its own. Thread-safe.
class TopicRecords {
  public:
    /// `leave_out`: kinds of V1 that are left out.
    explicit TopicRecords(std::vector<std::string> leave_out) : leave_out_(std::move(leave_out)) {}

    /// The record, its value in at most `limit` bytes (see trimmed_event.h). Whatever is JSON makes one,
    /// also what is no event: the worker keeps those as dead letters, where an operator sees them.
    RecordOrNot make(const DoorEvent& event, std::size_t limit) const;

  private:
    const std::vector<std::string> leave_out_;
};

}  // namespace epilogue::relay
