#include "agent/relay/follow/ack_window.h"

#include <utility>

#include "base/mutant.h"

namespace epilogue::relay {

Ticket AckWindow::sent(LogPosition then) {
    const Ticket ticket{++last_ticket_};
    if (mutant(Mutant::followed_before_acknowledged)) position_ = then;
    sent_.push_back({ticket, false, std::move(then)});
    return ticket;
}

bool AckWindow::is_known(Ticket ticket) const {
    return !sent_.empty() && ticket.value >= sent_.front().ticket.value && ticket.value <= last_ticket_;
}

bool AckWindow::acked(Ticket ticket) {
    if (!is_known(ticket)) return false;
    sent_[ticket.value - sent_.front().ticket.value].acked = true;
    const LogPosition before = position_;
    while (!sent_.empty() && sent_.front().acked) {
        position_ = std::move(sent_.front().then);
        sent_.pop_front();
    }
    return position_ != before;
}

}  // namespace epilogue::relay
