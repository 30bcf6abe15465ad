#include "agent/relay/follow/session_plan.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"

namespace epilogue::relay {
namespace {

constexpr std::size_t most_awaited = 1024;

}  // namespace

void SessionPlan::connect(std::chrono::milliseconds pause) {
    is_synced_ = false;
    snapshot_seen_ = false;
    reading_ = false;
    held_.clear();
    held_bytes_ = 0;
    dropped_ = false;
    // The event at which we stand comes once more: by its id this is still the log that we know. Not when the
    // socket cannot send it.
    proves_position_ = ahead().next > 0 && !ahead().last_id.empty() && !std::exchange(at_unsendable_, false);
    add(OpenSocket{ahead().next - (proves_position_ ? 2 : 1), pause});
}

void SessionPlan::restart_after(std::chrono::milliseconds pause) {
    run_overs_.clear();
    awaited_.clear();
    seen_ = 0;
    tail_.reset();
    unreadable_ = 0;
    connect(pause);
}

void SessionPlan::sync(const SyncFrame& frame) {
    const std::int64_t count = frame.through ? *frame.through + 1 : 0;
    server_has(count);
    if (count < ahead().next) {
        log_is_another();
        return;
    }
    if (count == ahead().next + unreadable_) server_has(ahead().next);
    is_synced_ = true;
}

void SessionPlan::frame(EventFrame frame) {
    ++frames_;
    plan_look(false);
    if (frame.seq)
        numbered(std::move(frame.event), *frame.seq);
    else
        unnumbered(std::move(frame.event));
}

void SessionPlan::numbered(agent::RemoteEvent event, std::int64_t seq) {
    const bool proves = std::exchange(proves_position_, false);
    if (proves && seq == ahead().next - 1 && event.id != ahead().last_id) {
        log_is_another();
        return;
    }
    if (seq < ahead().next) return;
    server_has_at_least(seq + 1);
    seen_ = std::max(seen_, seq + 1);
    if (seq > ahead().next) {
        hold(std::move(event), seq);
        return;
    }
    take(event);
    take_held();
}

void SessionPlan::unnumbered(agent::RemoteEvent event) {
    if (!event.is_full_state()) {
        // One that the log did not have yet comes no second time.
        if (!event.is_stored()) return;
        add(SetTimer{Timer::look, rules().gap_patience});
        if (awaited_.size() < most_awaited) awaited_.insert(std::move(event.id));
        return;
    }
    // The snapshot that a subscription begins with says nothing of a run.
    if (!std::exchange(snapshot_seen_, true)) return;
    run_overs_.push_back({std::move(event), seen_});
    produce_run_overs();
}

/// Behind all that was told before them.
void SessionPlan::produce_run_overs() {
    while (!run_overs_.empty() && awaited_.empty() && run_overs_.front().behind <= ahead().next) {
        produce_run_over(run_overs_.front().snapshot);
        run_overs_.pop_front();
    }
}

void SessionPlan::take(const agent::RemoteEvent& event) {
    const std::int64_t seq = ahead().next;
    produce(event, seq, {seq + 1, event.id, ahead().renumbered});
    if (tail_ && seq + 1 >= tail_->count) {
        const std::int64_t filled = tail_->count - tail_->from;
        add(GapSeen{filled, filled, 0});
        tail_.reset();
    }
    awaited_.erase(event.id);
    produce_run_overs();
}

void SessionPlan::hold(agent::RemoteEvent event, std::int64_t seq) {
    if (held_bytes_ > rules().held_bytes) {
        dropped_ = true;
        ask_for_missing();
        return;
    }
    if (held_.empty()) add(SetTimer{Timer::again, rules().gap_patience});
    tail_.reset();  // the socket tells what stands behind it
    const std::size_t bytes = event.json.size();
    if (held_.emplace(seq, std::move(event)).second) held_bytes_ += bytes;
}

void SessionPlan::take_held() {
    while (!held_.empty() && held_.begin()->first <= ahead().next) {
        if (held_.begin()->first == ahead().next) take(held_.begin()->second);
        held_bytes_ -= held_.begin()->second.json.size();
        held_.erase(held_.begin());
    }
    if (held_.empty() && dropped_) connect();  // what there was no room for comes again
}

void SessionPlan::down(const SocketDown& down) {
    if (!down.too_large) {
        connect();
        return;
    }
    at_unsendable_ = true;
    at_own_place_ = proves_position_;
    ask_for_missing();
}

void SessionPlan::ask_for_missing() {
    if (std::exchange(reading_, true)) return;
    asked_behind_ = ahead().last_id;
    add(ReadPage{asked_behind_});
}

void SessionPlan::fired(Timer timer) {
    if (timer == Timer::look) {
        add(AskCount{});
        return;
    }
    // What is held has waited long enough for what stands before it, or a reading failed.
    if (!held_.empty() || at_unsendable_ || (tail_ && tail_->is_read)) ask_for_missing();
}

void SessionPlan::page(PageRead page) {
    if (!std::exchange(reading_, false)) return;
    if (asked_behind_ != ahead().last_id) {  // it came by itself meanwhile
        if (!held_.empty()) add(SetTimer{Timer::again, rules().gap_patience});
        return;
    }
    if (!ahead().last_id.empty() && (page.events.empty() || page.events.front().id != ahead().last_id)) {
        at_unsendable_ = false;
        log_is_another();  // a server that does not know the event begins at the first
        return;
    }
    step_over(page);
}

void SessionPlan::step_over(const PageRead& page) {
    const std::string stood_at = ahead().last_id;
    std::int64_t found = 0;
    for (const agent::RemoteEvent& event : page.events) {
        if (event.id == stood_at) continue;
        if (!held_.empty() && (event.id == held_.begin()->second.id || ahead().next == held_.begin()->first))
            break;
        take(event);
        ++found;
    }
    if (at_unsendable_) {
        // Nothing new, and it is not our own place that the socket cannot send: REST cannot show it either.
        if (found == 0 && (!at_own_place_ || mutant(Mutant::followed_own_place_skipped))) {
            add(GapSeen{1, 0, 1});
            stand_at({ahead().next + 1, ahead().last_id, ahead().renumbered});
        }
        connect();
        return;
    }
    if (held_.empty()) {
        read_tail(found == 0 || page.next_page_id.empty());
        return;
    }
    if (!mutant(Mutant::followed_gap_given_up) && found > 0 && !page.next_page_id.empty() &&
        ahead().next < held_.begin()->first) {
        add(GapSeen{found, found, 0});
        ask_for_missing();
        return;
    }
    give_up_missing(found);
}

void SessionPlan::give_up_missing(std::int64_t found) {
    const std::int64_t gone = held_.begin()->first - ahead().next;
    const std::int64_t lost = gone - std::min(gone, unreadable_);  // those were counted
    unreadable_ -= gone - lost;
    if (found + lost > 0) add(GapSeen{found + lost, found, lost});
    stand_at({held_.begin()->first, ahead().last_id, ahead().renumbered});
    take_held();
}

/// What the log has more than the socket told, even when it was asked once more, was read by REST.
void SessionPlan::read_tail(bool is_last_page) {
    if (!tail_) return;
    if (!is_last_page) {
        ask_for_missing();
        return;
    }
    const std::int64_t lost = tail_->count - ahead().next;
    add(GapSeen{tail_->count - tail_->from, ahead().next - tail_->from, lost});
    tail_.reset();
    unreadable_ += lost;
    server_has(ahead().next);
}

void SessionPlan::seek_tail(std::int64_t count) {
    deaf_since_.reset();
    plan_look(false);
    if (!tail_) {
        tail_ = Tail{count, ahead().next};
        connect();
        return;
    }
    tail_->is_read = true;
    ask_for_missing();
}

void SessionPlan::count(const CountRead& read) {
    if (read.count < ahead().next) {
        connect();  // its first frame tells whether the log is still the one that we know
        return;
    }
    unreadable_ = std::min(unreadable_, read.count - ahead().next);
    if (read.count == ahead().next + unreadable_) {
        server_has(ahead().next);
        deaf_since_.reset();
        tail_.reset();
        // What was told without a number, and is not here, is in no log.
        awaited_.clear();
        produce_run_overs();
        plan_look(true);
    } else if (deaf_since_ == frames_) {
        seek_tail(read.count - unreadable_);
    } else {
        // Their frames may be on their way.
        deaf_since_ = frames_;
        add(SetTimer{Timer::look, rules().gap_patience});
    }
}

void SessionPlan::failed(const ReadFailed& failure) {
    if (std::exchange(reading_, false))
        add(SetTimer{Timer::again, std::max(rules().retry_after, failure.pause)});
    else
        plan_look(true);
}

}  // namespace epilogue::relay
