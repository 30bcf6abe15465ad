#include "agent/relay/follow/log_plan.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/mutant.h"

namespace epilogue::relay {
namespace {

constexpr std::size_t most_recent = 1024;
constexpr std::size_t most_told = 1024;
constexpr std::uint64_t readings_to_be_found = 3;
constexpr std::size_t most_held_bytes = std::size_t{1} << 20U;
constexpr int most_rounds = 5;  // for a log that never rests

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

void LogPlan::forget() {
    reading_ = Reading::none;
    rewound_ = false;
    was_compared_ = false;
    recent_ = {};
    late_.clear();
    unknown_.clear();
    drop_held();
}

void LogPlan::restart() {
    forget();
    want_reading(true);
}

void LogPlan::restart_after(std::chrono::milliseconds pause) {
    forget();
    compare_ = wanted_ = resting_ = true;
    add(SetTimer{Timer::again, pause});
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
        begin_forward();
    }
}

void LogPlan::count(const CountRead& read) {
    if (reading_ == Reading::counting_again) {
        counted_ = read.count;
        look_back();
        return;
    }
    if (reading_ != Reading::counting) return;
    counted_ = read.count;
    if (read.count < ahead().next)
        stand_at({ahead().last_id.empty() ? 0 : read.count, ahead().last_id, ahead().renumbered});
    begin_forward();
}

void LogPlan::begin_forward() {
    began_at_ = ahead().last_id.empty() ? 0 : ahead().next;
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
        log_is_another();
        return;
    }
    for (const agent::RemoteEvent& event : page.events) take_forward(event);
    if (!held_.empty() && !counted_) {
        end_without_comparison();
    } else if (page.next_page_id.empty()) {
        end_forward();
    } else {
        began_at_ = ahead().next;  // something may be written before this page meanwhile
        read_forward(page.next_page_id);
    }
}

/// What ends a run was found by a reading that cannot tell whether it is complete: the next one can.
void LogPlan::end_without_comparison() {
    late_.clear();
    unknown_.clear();
    drop_held();
    compare_ = wanted_ = true;
    rest();
}

void LogPlan::take_forward(const agent::RemoteEvent& event) {
    if (event.id != ahead().last_id && has_to_wait(event)) {
        hold(event);
        if (held_bytes_ > most_held_bytes) take_held();
        return;
    }
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

/// Where reading began at the log's first event nothing can be missing before the one that is read.
bool LogPlan::has_to_wait(const agent::RemoteEvent& event) const {
    if (mutant(Mutant::followed_end_not_held)) return false;
    if (!held_.empty()) return true;
    return began_at_ > 0 && agent::ends_run(event.status) && !recent_.contains(event.id);
}

void LogPlan::hold(const agent::RemoteEvent& event) {
    held_bytes_ += event.json.size();
    held_.push_back(event);
}

void LogPlan::take_held() {
    rounds_ = 0;
    began_at_ = 0;  // it has waited
    for (const agent::RemoteEvent& event : std::exchange(held_, {})) take_forward(event);
    held_bytes_ = 0;
}

void LogPlan::drop_held() {
    held_.clear();
    held_bytes_ = 0;
}

bool LogPlan::is_held(const std::string& id) const {
    return std::any_of(held_.begin(), held_.end(), [&](const auto& event) { return event.id == id; });
}

std::int64_t LogPlan::missing() const {
    const std::int64_t known = ahead().next + static_cast<std::int64_t>(held_.size()) + newer_;
    const std::int64_t uncounted = counted_ ? std::max(*counted_ - known, std::int64_t{0}) : 0;
    const auto untold = std::count_if(told_.begin(), told_.end(), [&](const auto& each) {
        return each.second < readings_ && !is_held(each.first);
    });
    return std::max(uncounted, static_cast<std::int64_t>(untold));
}

void LogPlan::end_forward() {
    if (held_.empty() || rewound_) {
        look_back();
        return;
    }
    // What was written since the log was counted could stand for what is missing.
    reading_ = Reading::counting_again;
    add(AskCount{});
}

void LogPlan::look_back() {
    newer_ = 0;
    if (missing() == 0 || rewound_ || mutant(Mutant::followed_late_not_looked_for)) {
        take_held();
        end_reading();
        return;
    }
    reading_ = Reading::back;
    walked_back_ = 0;
    // What came after this log was read forward is for the next reading.
    back_from_ = ahead().last_id;
    cursor_.clear();
    add(ReadPage{"", true});
}

void LogPlan::back_page(PageRead page) {
    if (!cursor_.empty() && (page.events.empty() || page.events.front().id != cursor_)) {
        end_without_comparison();
        return;
    }
    for (agent::RemoteEvent& event : page.events) {
        if (!back_from_.empty()) {
            if (event.id == back_from_)
                back_from_.clear();
            else if (!is_held(event.id))
                ++newer_;
            continue;
        }
        if (is_beyond_memory()) break;
        if (!recent_.contains(event.id)) {
            unknown_.push_back(std::move(event));
            continue;
        }
        ++walked_back_;
        take_unknown();
    }
    if (remembers_all()) take_unknown();
    const bool enough = static_cast<std::int64_t>(late_.size()) >= missing();
    if (!enough && !is_beyond_memory() && !page.next_page_id.empty()) {
        cursor_ = page.next_page_id;
        add(ReadPage{cursor_, true});
        return;
    }
    end_back();
}

bool LogPlan::remembers_all() const {
    return static_cast<std::int64_t>(recent_.size()) >= ahead().next ||
           mutant(Mutant::followed_beyond_memory);
}

/// Whether what stands further back may have been produced without our knowing it any more.
bool LogPlan::is_beyond_memory() const {
    return walked_back_ + (recent_.contains(ahead().last_id) ? 1 : 0) >= recent_.size() && !remembers_all();
}

void LogPlan::take_unknown() {
    std::move(unknown_.begin(), unknown_.end(), std::back_inserter(late_));
    unknown_.clear();
}

void LogPlan::end_back() {
    unknown_.clear();
    wanted_ = wanted_ || newer_ > 0;
    std::int64_t found = 0;
    for (auto late = late_.rbegin(); late != late_.rend(); ++late) {
        told_.erase(late->id);
        recent_.add(late->id);
        produce(*late, std::nullopt, {ahead().next + 1, ahead().last_id, ahead().renumbered});
        ++found;
    }
    late_.clear();
    const std::int64_t read = ahead().next + static_cast<std::int64_t>(held_.size()) + newer_;
    if (found > 0) add(GapSeen{found, found, 0});
    if (counted_ && *counted_ > read) {
        drop_held();
        sought_ = *counted_ - read;
        // It stands further back than what we remember: all of the log, once.
        rewound_ = true;
        stand_at({0, "", ahead().renumbered});
        began_at_ = 0;
        read_forward("");
        return;
    }
    if (!held_.empty() && ++rounds_ < most_rounds) {
        // What was written meanwhile may have been taken for what was missing.
        end_without_comparison();
        return;
    }
    take_held();
    end_reading();
}

void LogPlan::end_reading() {
    late_.clear();
    unknown_.clear();
    if (rewound_ && counted_) {
        // All of the log was read: what is counted and was not shown are files that the server cannot read.
        const std::int64_t lost = std::max<std::int64_t>(*counted_ - ahead().next, 0);
        const std::int64_t filled = std::max<std::int64_t>(sought_ - lost, 0);
        if (filled + lost > 0) add(GapSeen{filled + lost, filled, lost});
        if (lost > 0) stand_at({*counted_, ahead().last_id, ahead().renumbered});
    }
    produce_run_overs();
    const auto lost = static_cast<std::int64_t>(std::erase_if(
        told_, [this](const auto& each) { return each.second + readings_to_be_found <= readings_; }));
    // What was told and stays out of the log was in the server's memory alone; or we have read it, and know
    // that no more.
    if (lost > 0 && remembers_all()) add(GapSeen{lost, 0, lost});
    rest();
    wanted_ = wanted_ || !told_.empty();
}

void LogPlan::rest() {
    reading_ = Reading::none;
    rewound_ = false;
    was_compared_ = was_compared_ || counted_;
    resting_ = true;
    add(SetTimer{Timer::again, std::max(rules().rest, took_)});
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
    rewound_ = false;
    late_.clear();
    unknown_.clear();
    drop_held();
    compare_ = true;
    wanted_ = true;
    resting_ = true;
    add(SetTimer{Timer::again, std::max(rules().retry_after, failure.pause)});
}

}  // namespace epilogue::relay
