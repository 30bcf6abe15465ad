// Records on their way into the topic, and the position that follows from those that have arrived. Pure.
#pragma once

#include <cstdint>
#include <deque>

#include "agent/relay/positions.h"
#include "base/named.h"

namespace epilogue::relay {

/// Tells one record that is under way from all others of its follower.
using Ticket = Named<std::uint64_t, struct TicketTag>;

/// The position moves in the order in which records were sent, whatever the order of acknowledgements.
class AckWindow {
  public:
    explicit AckWindow(LogPosition position) : position_(std::move(position)) {}

    const LogPosition& position() const { return position_; }
    std::size_t under_way() const { return sent_.size(); }

    /// A record is sent; `then` holds once it and all before it are in the topic.
    Ticket sent(LogPosition then);
    /// The topic has the record. True when the position has moved. False also for one that was forgotten.
    bool acked(Ticket ticket);
    /// Whether the record is still waited for.
    bool is_known(Ticket ticket) const;
    /// Forgets what is under way: the position stays.
    void forget() { sent_.clear(); }

  private:
    struct Sent {
        Ticket ticket;
        bool acked = false;
        LogPosition then;
    };

    LogPosition position_;
    std::uint64_t last_ticket_ = 0;
    std::deque<Sent> sent_;
};

}  // namespace epilogue::relay
