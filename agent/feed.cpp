#include "agent/feed.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "agent/goals.h"
#include "base/backoff.h"
#include "base/io/log.h"
#include "base/thread_name.h"

namespace epilogue::agent {
namespace {

constexpr std::size_t kept_statuses = 256;
constexpr int most_failed_syncs = 8;  // of a log that the server cannot read: then only what comes is told
constexpr int longest_look = 10;      // times look_after
constexpr std::chrono::seconds look_patience{10};
constexpr std::size_t most_wire_bytes = std::size_t{16} << 20U;  // that wait for a slow listener

}  // namespace

EventFeed::EventFeed(std::shared_ptr<const ConversationCalls> calls, const std::string& info,
                     FeedOptions options, Listener on_event)
    : calls_(std::move(calls)), options_(options), on_event_(std::move(on_event)), list_(options_.order) {
    state_.replace(info, 0);
    plan_next_look(false);
    const AgentServer& server = calls_->server();
    SocketListener listener;
    listener.on_open = [] {};
    listener.on_frame = [this](const std::string& text) { frame(text); };
    listener.on_down = [this](const std::string& cause) { down(cause); };
    listener.on_end = [this](const AgentError& error) {
        const std::lock_guard lock(mutex_);
        live_ = false;
        ended_ = error;
        changed_.notify_all();
    };
    socket_ = std::make_unique<EventSocket>(
        SocketTarget{server.address(), calls_->id(), server.session_key(), options_.auth},
        std::move(listener), options_.limits);
    worker_ = std::thread([this] {
        name_this_thread("event feed");
        work();
    });
}

EventFeed::~EventFeed() {
    stop();
}

void EventFeed::stop() {
    socket_->stop();
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        live_ = false;
        changed_.notify_all();
    }
    if (worker_.joinable()) worker_.join();
}

void EventFeed::frame(const std::string& text) {
    auto event = parse_event(text);
    if (!event) {
        log_warn("an agent server's frame is no event", {{"conversation", calls_->id()}});
        return;
    }
    state_.apply(*event);
    const std::lock_guard lock(mutex_);
    const bool first = !std::exchange(live_, true);
    if (first) ++connections_;
    if (event->goal) {
        goal_goes_on_ = *event->goal;
        ++goal_updates_;
    }
    if (!event->status.empty() || event->goal) {
        // The first frame of a socket is a snapshot, too, but says nothing of a run.
        statuses_.push_back({event->status, ++statuses_seen_, event->is_full_state() && !first,
                             event->timestamp, event->goal});
        if (statuses_.size() > kept_statuses) statuses_.pop_front();
    }
    put_arrived(std::make_shared<RemoteEvent>(std::move(*event)));
    // The first frame proves the subscription: whatever is not in the log by now will come as a frame.
    if (first && options_.reads_log) ++syncs_wanted_;
    ++frames_seen_;
    plan_next_look(false);
    changed_.notify_all();
}

/// What waits is bounded whatever the listener does: by the log, of which each event waits once, and by
/// most_wire_bytes.
void EventFeed::put_arrived(EventRef event) {
    if (event->is_stored()) {
        if (list_.contains(event->id) || !ids_.insert(event->id).second) return;
    } else {
        const bool is_left_out = wire_bytes_ + event->json.size() > most_wire_bytes;
        if (is_left_out && !leaves_out_)
            log_warn("callbacks are slower than a conversation: what no log holds is left out",
                     {{"conversation", calls_->id()}});
        leaves_out_ = is_left_out;
        if (is_left_out) return;
        wire_bytes_ += event->json.size();
    }
    arrived_.push_back(std::move(event));
}

EventRef EventFeed::take_first_arrived() {
    EventRef event = std::move(arrived_.front());
    arrived_.pop_front();
    if (event->is_stored())
        ids_.erase(event->id);
    else
        wire_bytes_ -= event->json.size();
    return event;
}

void EventFeed::down(const std::string& cause) {
    log_debug("no event socket", {{"conversation", calls_->id()}, {"cause", cause}});
    const std::lock_guard lock(mutex_);
    live_ = false;
    if (options_.reads_log) ++syncs_wanted_;  // REST stands in for the socket, at the pace of its attempts
    changed_.notify_all();
}

void EventFeed::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wait_for_work(lock);
        if (stopping_) return;
        if (look_at_ && Clock::now() >= *look_at_) look(lock);
        // The log first: what came meanwhile is newer.
        const std::uint64_t wanted = syncs_wanted_;
        AgentResult<void> done;
        if (wanted > syncs_done_) {
            lock.unlock();
            done = read_log();
            lock.lock();
        }
        take_arrived(lock);
        if (wanted > syncs_done_) {
            last_sync_ = std::move(done);
            syncs_done_ = wanted;
            plan_next_sync();
        }
        changed_.notify_all();
    }
}

void EventFeed::wait_for_work(std::unique_lock<std::mutex>& lock) {
    const auto is_there = [this] { return stopping_ || !arrived_.empty() || syncs_wanted_ > syncs_done_; };
    while (!is_there()) {
        const auto now = Clock::now();
        if (sync_again_at_ && now >= *sync_again_at_) {
            sync_again_at_.reset();
            ++syncs_wanted_;
        }
        if (is_there() || (look_at_ && now >= *look_at_)) return;
        const auto until = std::min(sync_again_at_.value_or(Clock::time_point::max()),
                                    look_at_.value_or(Clock::time_point::max()));
        if (until == Clock::time_point::max())
            changed_.wait(lock);
        else
            changed_.wait_until(lock, until);
    }
}

void EventFeed::plan_next_look(bool silent) {
    if (!options_.reads_log) return;
    silent_looks_ = silent ? silent_looks_ + 1 : 0;
    look_at_ = Clock::now() +
               full_jitter(silent_looks_ + 1, 1.0, options_.look_after, options_.look_after * longest_look);
}

/// Nothing came for a while. A connection may be dead without a sign of it, and a deleted conversation's
/// socket stays open and is silent.
void EventFeed::look(std::unique_lock<std::mutex>& lock) {
    plan_next_look(true);
    const std::uint64_t frames = frames_seen_;
    lock.unlock();
    const auto count = calls_->event_count(look_patience);
    const std::size_t known = known_events();
    lock.lock();
    if (!count) {
        if (count.error().kind != AgentError::Kind::not_found || stopping_) return;
        live_ = false;
        look_at_.reset();
        ended_ = count.error();
        changed_.notify_all();
        return;
    }
    if (*count <= known || frames != frames_seen_ || !last_sync_) return;
    deaf_since_ = frames;
    ++syncs_wanted_;
}

/// What the log holds and no frame told is missing until the log was read.
void EventFeed::plan_next_sync() {
    sync_again_at_.reset();
    if (last_sync_ || !may_pass(last_sync_.error().kind)) {
        failed_syncs_ = 0;
        return;
    }
    const AgentError& error = last_sync_.error();
    constexpr int unhandled = 500;  // also what the server's gate for such logs says
    if (++failed_syncs_ >= most_failed_syncs && error.status == unhandled) {
        log_warn("a conversation's log is given up: its server cannot read it",
                 {{"conversation", calls_->id()}, {"cause", error.text}});
        return;
    }
    constexpr std::chrono::seconds longest{30};
    const auto pause = full_jitter(failed_syncs_, 1.0, calls_->server().deadlines().log_pause, longest);
    sync_again_at_ = Clock::now() + std::max(pause, error.retry_after);
}

void EventFeed::take_arrived(std::unique_lock<std::mutex>& lock) {
    for (std::size_t left = arrived_.size(); left > 0 && !stopping_; --left) {
        const EventRef event = take_first_arrived();
        if (!list_.add(event) && event->is_stored()) continue;
        changed_.notify_all();
        lock.unlock();
        deliver(event);
        lock.lock();
    }
}

std::size_t EventFeed::known_events() const {
    const std::lock_guard lock(mutex_);
    const auto is_new = [this](const std::string& id) { return !list_.contains(id); };
    return list_.size() + static_cast<std::size_t>(std::count_if(ids_.begin(), ids_.end(), is_new));
}

/// How many events are known, when the order in which they were written is known, too; else 0. A socket that
/// repeats what it missed tells of newer events first.
std::size_t EventFeed::known_in_order() const {
    {
        const std::lock_guard lock(mutex_);
        const bool is_new = std::any_of(ids_.begin(), ids_.end(),
                                        [this](const std::string& id) { return !list_.contains(id); });
        if (!list_.is_settled() || (is_new && options_.order == LogOrder::as_written)) return 0;
    }
    return known_events();
}

AgentResult<void> EventFeed::read_log() {
    const std::uint64_t connection = connection_now();
    // Reading a long log costs the server much. Ids are unique and nothing is ever taken out of a log: when
    // it has as many events as are known here, they are the same.
    if (const std::size_t known = known_in_order(); known > 0) {
        const auto count = calls_->event_count();
        if (count && *count == known) return {};
    }
    const auto log = log_to_read();
    if (!log) return AgentFailure(log.error());
    static_cast<void>(ask_info());
    std::vector<EventRef> fresh;
    bool deaf = false;
    {
        const std::lock_guard lock(mutex_);
        fresh = list_.reconcile(*log);
        if (options_.reads_log) note_goal(connection);
        const auto since = std::exchange(deaf_since_, std::nullopt);
        deaf = since == frames_seen_ && !fresh.empty();
        changed_.notify_all();
    }
    if (deaf) {
        log_warn("an event socket tells nothing of what happens; it is connected again",
                 {{"conversation", calls_->id()}});
        socket_->renew();
    }
    for (const EventRef& event : fresh) deliver(event);
    return {};
}

/// The whole log is here; `connection` stood before it was read. What the socket told meanwhile is newer.
void EventFeed::note_goal(std::uint64_t connection) {
    const auto says_it = [](const EventRef& event) { return event->goal.has_value(); };
    const auto rend = std::make_reverse_iterator(list_.begin());
    const auto newest = std::find_if(std::make_reverse_iterator(list_.end()), rend, says_it);
    if (newest != rend && std::none_of(arrived_.begin(), arrived_.end(), says_it))
        goal_goes_on_ = *(*newest)->goal;
    goal_known_since_ = connection;
}

AgentResult<std::vector<EventRef>> EventFeed::log_to_read() const {
    if (!options_.reads_log) return calls_->newest_events();
    const std::string settled = settled_end();
    if (settled.empty()) return calls_->events();
    auto rest = calls_->events_from(settled);
    if (rest && (rest->empty() || rest->front()->id != settled)) return calls_->events();
    return rest;
}

AgentResult<std::string> EventFeed::ask_info(std::chrono::milliseconds deadline) {
    const std::uint64_t mark = state_.mark();
    auto info = calls_->info(deadline);
    if (info) state_.replace(*info, mark);
    return info;
}

void EventFeed::deliver(const EventRef& event) {
    try {
        on_event_(event);
    } catch (const std::exception& fault) {
        log_error("a listener to a conversation's events failed",
                  {{"conversation", calls_->id()}, {"cause", fault.what()}});
    }
}

AgentResult<void> EventFeed::reconcile(Clock::time_point deadline) {
    if (std::this_thread::get_id() == worker_.get_id()) return read_log();
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = ++syncs_wanted_;
    changed_.notify_all();
    const bool done = changed_.wait_until(lock, deadline, [&] { return stopping_ || syncs_done_ >= wanted; });
    if (stopping_) return agent_failure(AgentError::Kind::closed, "the conversation was closed");
    if (!done)
        return agent_failure(AgentError::Kind::timed_out,
                             "the server's log was not read before the deadline");
    return last_sync_;
}

bool EventFeed::wait_synced(Clock::time_point deadline) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] {
        return stopping_ || syncs_done_ > 0 || ended_ || (!options_.reads_log && live_);
    });
}

EventList EventFeed::events() const {
    const std::lock_guard lock(mutex_);
    return list_;
}

std::string EventFeed::settled_end() const {
    const std::lock_guard lock(mutex_);
    return list_.settled_end();
}

bool EventFeed::is_live() const {
    const std::lock_guard lock(mutex_);
    return live_;
}

/// The number of the connection on which the socket stands; 0 when it does not.
std::uint64_t EventFeed::connection_now() const {
    const std::lock_guard lock(mutex_);
    return live_ ? connections_ : 0;
}

AgentResult<bool> EventFeed::goal_goes_on(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (live_ && goal_known_since_ == connections_) return goal_goes_on_;
    const std::uint64_t updates = goal_updates_;
    const std::uint64_t connection = live_ ? connections_ : 0;
    lock.unlock();
    const auto asked = agent::goal_goes_on(*calls_, deadline);
    if (!asked) return asked;
    lock.lock();
    // What the socket told meanwhile is newer.
    if (updates == goal_updates_) goal_goes_on_ = *asked;
    goal_known_since_ = connection;
    return goal_goes_on_;
}

std::optional<AgentError> EventFeed::ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
}

std::optional<AgentError> EventFeed::log_fault() const {
    const std::lock_guard lock(mutex_);
    if (last_sync_) return std::nullopt;
    return last_sync_.error();
}

SeenStatus EventFeed::newest_status() const {
    const std::lock_guard lock(mutex_);
    return statuses_.empty() ? SeenStatus{} : statuses_.back();
}

AgentResult<std::vector<SeenStatus>> EventFeed::wait_status(std::uint64_t after,
                                                            Clock::time_point deadline) const {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return stopping_ || statuses_seen_ > after; });
    if (stopping_) return agent_failure(AgentError::Kind::closed, "the conversation was closed");
    std::vector<SeenStatus> seen;
    for (const SeenStatus& each : statuses_)
        if (each.number > after) seen.push_back(each);
    return seen;
}

bool EventFeed::wait_events(Clock::time_point deadline,
                            const std::function<bool(const EventList&)>& condition) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return stopping_ || condition(list_); }) &&
           condition(list_);
}

}  // namespace epilogue::agent
