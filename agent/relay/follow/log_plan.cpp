#include "agent/relay/follow/log_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace epilogue::relay {
namespace {

constexpr std::size_t most_recent = 1024;
constexpr std::size_t most_told = 1024;
constexpr std::uint64_t readings_to_be_found = 3;

}  // namespace

void RecentIds::add(const std::string& id) {
    if (hashes_.size() == most_recent) hashes_.pop_front();
    hashes_.push_back(std::hash<std::string>()(id));
}

bool RecentIds::contains(const std::string& id) const {
    return std::find(hashes_.begin(), hashes_.end(), std::hash<std::string>()(id)) != hashes_.end();
}

void LogPlan::start() {
    // Subscribed first: what the reading does not show any more comes as a frame.
    add(OpenSocket{std::nullopt});
}

void LogPlan::restart() {
    reading_ = Reading::none;
    rewound_ = false;
    was_compared_ = false;
    recent_ = {};
    late_.clear();
    want_reading(true);
}

void LogPlan::frame(EventFrame frame) {
    plan_look(false);
    agent::RemoteEvent& event = frame.event;
    if (event.is_full_state()) {
        const bool snapshot = !std::exchange(snapshot_seen_, true);
        if (!snapshot) run_overs_.push_back({std::move(event), readings_});
        want_reading(snapshot);
        return;
    }
    if (!event.is_stored() || recent_.contains(event.id)) return;
    if (told_.size() < most_told)
        told_.emplace(std::move(event.id), readings_);
    else
        compare_ = true;
    want_reading(agent::ends_run(event.status));
}

void LogPlan::down(const SocketDown& /*down*/) {
    snapshot_seen_ = false;
    add(OpenSocket{std::nullopt});
    want_reading(true);
}

void LogPlan::fired(Timer timer) {
    if (timer == Timer::look) {
        plan_look(true);
        want_reading(true);
        return;
    }
    resting_ = false;
    if (std::exchange(wanted_, false)) begin_reading();
}

void LogPlan::want_reading(bool compare) {
    compare_ = compare_ || compare;
    if (reading_ != Reading::none || resting_)
        wanted_ = true;
    else
        begin_reading();
}

void LogPlan::begin_reading() {
    ++readings_;
    took_ = std::chrono::milliseconds(0);
    counted_.reset();
    if (std::exchange(compare_, false)) {
        // Before the log: the reading then shows all that was counted, or what it lacks stands further back.
        reading_ = Reading::counting;
        add(AskCount{});
    } else {
        read_forward(ahead().last_id);
    }
}

void LogPlan::count(const CountRead& read) {
    if (reading_ != Reading::counting) return;
    counted_ = read.count;
    if (read.count < ahead().next)
        stand_at({ahead().last_id.empty() ? 0 : read.count, ahead().last_id, ahead().renumbered});
    read_forward(ahead().last_id);
}

void LogPlan::read_forward(std::string page_id) {
    reading_ = Reading::forward;
    cursor_ = std::move(page_id);
    add(ReadPage{cursor_});
}

void LogPlan::page(PageRead page) {
    took_ += page.took;
    if (reading_ == Reading::forward)
        forward_page(page);
    else if (reading_ == Reading::back)
        back_page(std::move(page));
}

void LogPlan::forward_page(const PageRead& page) {
    // A server that does not know the event begins at the first.
    if (!cursor_.empty() && (page.events.empty() || page.events.front().id != cursor_)) {
        add(GapSeen{1, 0, 0});
        log_is_another();
        return;
    }
    for (const agent::RemoteEvent& event : page.events) take_forward(event);
    if (!page.next_page_id.empty())
        read_forward(page.next_page_id);
    else
        end_forward();
}

void LogPlan::take_forward(const agent::RemoteEvent& event) {
    told_.erase(event.id);
    if (event.id == ahead().last_id) return;
    produce_run_overs_before(event.timestamp);
    const LogPosition then{ahead().next + 1, event.id, ahead().renumbered};
    if (recent_.contains(event.id)) {
        stand_at(then);
        return;
    }
    recent_.add(event.id);
    // Without its index: what such a server shows first can come to stand behind others.
    produce(event, std::nullopt, then);
}

std::int64_t LogPlan::missing() const {
    const std::int64_t uncounted = counted_ ? std::max(*counted_ - ahead().next, std::int64_t{0}) : 0;
    const auto untold = std::count_if(told_.begin(), told_.end(),
                                      [this](const auto& each) { return each.second < readings_; });
    return std::max(uncounted, static_cast<std::int64_t>(untold));
}

void LogPlan::end_forward() {
    if (missing() == 0 || rewound_) {
        end_reading();
        return;
    }
    reading_ = Reading::back;
    walked_back_ = 0;
    cursor_.clear();
    add(ReadPage{"", true});
}

void LogPlan::back_page(PageRead page) {
    if (!cursor_.empty() && (page.events.empty() || page.events.front().id != cursor_)) {
        compare_ = wanted_ = true;
        end_reading();
        return;
    }
    for (agent::RemoteEvent& event : page.events) {
        if (++walked_back_ > recent_.size() + late_.size()) break;
        if (!recent_.contains(event.id) && event.id != ahead().last_id) late_.push_back(std::move(event));
    }
    const bool enough = static_cast<std::int64_t>(late_.size()) >= missing();
    const bool beyond = walked_back_ > recent_.size() + late_.size();
    if (!enough && !beyond && !page.next_page_id.empty()) {
        cursor_ = page.next_page_id;
        add(ReadPage{cursor_, true});
        return;
    }
    end_back();
}

void LogPlan::end_back() {
    const std::int64_t wanted = missing();
    std::int64_t found = 0;
    for (auto late = late_.rbegin(); late != late_.rend(); ++late) {
        told_.erase(late->id);
        recent_.add(late->id);
        produce(*late, std::nullopt, {ahead().next + 1, ahead().last_id, ahead().renumbered});
        ++found;
    }
    late_.clear();
    const bool uncounted = counted_ && *counted_ > ahead().next;
    add(GapSeen{std::max(wanted, found), found, 0});
    if (uncounted) {
        // It stands further back than what we remember: all of the log, once.
        rewound_ = true;
        stand_at({0, "", ahead().renumbered});
        read_forward("");
        return;
    }
    end_reading();
}

void LogPlan::end_reading() {
    late_.clear();
    if (rewound_ && counted_ && *counted_ > ahead().next) {
        // All of the log was read: the server counts files that it cannot read.
        const std::int64_t lost = *counted_ - ahead().next;
        add(GapSeen{0, 0, lost});
        stand_at({*counted_, ahead().last_id, ahead().renumbered});
    }
    produce_run_overs();
    std::erase_if(told_,
                  [this](const auto& each) { return each.second + readings_to_be_found <= readings_; });
    reading_ = Reading::none;
    rewound_ = false;
    was_compared_ = was_compared_ || counted_;
    resting_ = true;
    add(SetTimer{Timer::again, std::max(rules().rest, took_)});
    wanted_ = wanted_ || !told_.empty();
}

void LogPlan::produce_run_overs_before(const std::string& timestamp) {
    while (!run_overs_.empty() && run_overs_.front().snapshot.timestamp < timestamp) {
        produce_run_over(run_overs_.front().snapshot);
        run_overs_.pop_front();
    }
}

void LogPlan::produce_run_overs() {
    while (!run_overs_.empty() && run_overs_.front().after < readings_) {
        produce_run_over(run_overs_.front().snapshot);
        run_overs_.pop_front();
    }
    wanted_ = wanted_ || !run_overs_.empty();
}

void LogPlan::failed(const ReadFailed& failure) {
    if (reading_ == Reading::none) return;
    reading_ = Reading::none;
    late_.clear();
    compare_ = true;
    wanted_ = true;
    resting_ = true;
    add(SetTimer{Timer::again, std::max(rules().retry_after, failure.pause)});
}

}  // namespace epilogue::relay
