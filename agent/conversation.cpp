#include "agent/conversation.h"

#include <algorithm>
#include <exception>

#include <nlohmann/json.hpp>

#include "agent/feed.h"
#include "agent/json.h"
#include "agent/last_words.h"
#include "agent/run_watch.h"
#include "agent/stop_hooks.h"
#include "base/bounded_json.h"
#include "base/io/log.h"

namespace epilogue::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr auto start_patience = 15s;  // for a server that still tidies up after the run before
constexpr auto start_again_after = 200ms;
constexpr auto room_again_after = 1s;
constexpr auto detail_patience = 2s;  // between the status `error` and the event that says why
constexpr auto log_patience = 30s;    // for the last look at the log
constexpr auto ask_patience =
    30s;  // for one answer about the status, while the socket may tell it any moment
constexpr auto verdict_patience = 10s;

milliseconds left_until(Clock::time_point deadline) {
    return std::max(1ms, std::chrono::duration_cast<milliseconds>(deadline - Clock::now()));
}

/// For one call: no longer than calls take, and than is left.
milliseconds time_for_call(const AgentServer& server, Clock::time_point deadline) {
    return std::min(server.deadlines().call, left_until(deadline));
}

/// The reason of the newest error, when its event is there: it comes after the status.
std::optional<std::string> reason_of_newest_error(const EventList& events) {
    for (auto at = events.end(); at != events.begin();) {
        --at;
        if (!(*at)->error.empty()) return (*at)->error;
        if ((*at)->status == "error") return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

RemoteConversation::RemoteConversation(std::shared_ptr<ConversationCalls> calls, ConversationOptions options)
    : calls_(std::move(calls)), options_(std::move(options)) {}

RemoteConversation::~RemoteConversation() {
    close();
}

AgentResult<std::unique_ptr<RemoteConversation>> RemoteConversation::create(
    std::shared_ptr<const AgentServer> server, std::string_view request, ConversationOptions options) {
    const auto info = create_conversation(*server, request);
    if (!info) return AgentFailure(info.error());
    const std::string id = string_in(parse_ordered_json(*info), "id");
    auto attached = attach(std::move(server), id, std::move(options));
    if (!attached)
        attached.error().text = "conversation " + id + " was created, but: " + attached.error().text;
    return attached;
}

AgentResult<std::unique_ptr<RemoteConversation>> RemoteConversation::attach(
    std::shared_ptr<const AgentServer> server, const std::string& id, ConversationOptions options) {
    const auto left = [&asked = *server, until = options.until] { return time_for_call(asked, until); };
    const auto features = server->features(left());
    if (!features) return AgentFailure(features.error());
    if (!options.socket.quiet) options.socket.quiet = quiet_of(*features);
    auto calls = std::make_shared<ConversationCalls>(server, id);
    const auto info = calls->info(left());
    if (!info) return AgentFailure(info.error());
    std::unique_ptr<RemoteConversation> conversation(
        new RemoteConversation(std::move(calls), std::move(options)));
    conversation->open(*info, *features);
    return conversation;
}

void RemoteConversation::open(const std::string& info, const Features& features) {
    for (const std::string& kind : options_.hooks.not_run)
        log_warn("a remote conversation does not run these hooks", {{"kind", kind}});
    run_session_hooks(options_.hooks.session_start, "SessionStart");
    // Where only the newest of a log is read, time says what is older than that.
    const bool as_written = features.log_as_written && options_.reads_log;
    const FeedOptions options{features.socket_auth, options_.socket, options_.reads_log, options_.look_after,
                              as_written ? LogOrder::as_written : LogOrder::by_time};
    feed_ = std::make_unique<EventFeed>(calls_, info, options,
                                        [this](const EventRef& event) { on_event(event); });
    static_cast<void>(feed_->wait_synced(std::min(options_.until, Clock::now() + options_.first_sync)));
}

void RemoteConversation::on_event(const EventRef& event) const {
    if (const std::string fault = write_completion_log(*event, options_.completion_logs); !fault.empty())
        log_warn("a completion log was not written", {{"conversation", id()}, {"cause", fault}});
    for (const auto& callback : options_.callbacks) {
        try {
            callback(*event);
        } catch (const std::exception& fault) {
            log_error("a callback failed",
                      {{"conversation", id()}, {"event", event->id}, {"cause", fault.what()}});
        }
    }
}

void RemoteConversation::run_session_hooks(const std::vector<Hook>& hooks, std::string_view kind) const {
    for (const HookOutcome& outcome : run_hooks(hooks, kind, id(), options_.hook_folder))
        if (!outcome.error.empty())
            log_warn("a hook failed",
                     {{"kind", std::string(kind)}, {"command", outcome.command}, {"cause", outcome.error}});
}

const std::string& RemoteConversation::id() const {
    return calls_->id();
}

AgentResult<ConversationState> RemoteConversation::state() const {
    if (!feed_->is_live()) {
        const auto info = feed_->ask_info();
        if (!info) return AgentFailure(info.error());
    }
    return feed_->state();
}

EventList RemoteConversation::events() const {
    return feed_->events();
}

AgentResult<void> RemoteConversation::reconcile(Milliseconds deadline) const {
    return feed_->reconcile(Clock::now() + deadline);
}

bool RemoteConversation::is_live() const {
    return feed_->is_live();
}

std::optional<AgentError> RemoteConversation::ended() const {
    return feed_->ended();
}

std::optional<AgentError> RemoteConversation::log_fault() const {
    return feed_->log_fault();
}

AgentResult<bool> RemoteConversation::start() {
    return start(Clock::now() + calls_->server().deadlines().call, Clock::now() + start_patience);
}

/// `room_until`: how long a server without room is asked again.
AgentResult<bool> RemoteConversation::start(Clock::time_point deadline, Clock::time_point room_until) {
    const auto patience = std::min(deadline, Clock::now() + start_patience);
    for (;;) {
        const auto started = calls_->run(time_for_call(calls_->server(), deadline));
        if (started) return true;
        const auto kind = started.error().kind;
        const milliseconds pause = std::max<milliseconds>(room_again_after, started.error().retry_after);
        if (kind == AgentError::Kind::overloaded && Clock::now() + pause < room_until) {
            if (const auto waited = wait_for(pause); !waited) return AgentFailure(waited.error());
            continue;
        }
        if (kind != AgentError::Kind::busy) return AgentFailure(started.error());
        // Busy, though nothing runs: the server has not quite ended the run before, or (old ones) works
        // without saying so. A message that was sent meanwhile is answered only when the run is asked for
        // again.
        const auto info = calls_->info(time_for_call(calls_->server(), deadline));
        if (!info) return AgentFailure(info.error());
        if (status_in(*info) == "running" || Clock::now() >= patience) return false;
        if (const auto waited = wait_for_change(start_again_after); !waited)
            return AgentFailure(waited.error());
    }
}

/// For a pause that no status cuts short. `closed` when the conversation was closed meanwhile.
AgentResult<void> RemoteConversation::wait_for(Milliseconds pause) const {
    const auto until = Clock::now() + pause;
    while (Clock::now() < until)
        if (const auto waited = wait_for_change(left_until(until)); !waited) return waited;
    return {};
}

AgentResult<void> RemoteConversation::wait_for_change(Milliseconds most) const {
    const auto waited = feed_->wait_status(feed_->newest_status().number, Clock::now() + most);
    if (!waited) return AgentFailure(waited.error());
    return {};
}

AgentResult<RunEnd> RemoteConversation::run(Milliseconds deadline) {
    const auto end = Clock::now() + deadline;
    const auto info = calls_->info(deadline);
    if (!info) return AgentFailure(info.error());
    const SeenStatus newest = feed_->newest_status();
    const auto started = start(end, end);
    if (!started) return AgentFailure(started.error());
    if (!*started) return wait("running", newest, end);
    const std::string before = status_in(*info);
    // It ended before it could be started anew: no answer shows how.
    return wait(before == "running" ? std::string(RunWatch::an_end) : before, newest, end);
}

AgentResult<RunEnd> RemoteConversation::wait_for_end(Milliseconds deadline) {
    return wait("", feed_->newest_status(), Clock::now() + deadline);
}

AgentResult<RunEnd> RemoteConversation::wait(const std::string& before, const SeenStatus& newest,
                                             Clock::time_point deadline) {
    RunWatch watch(before, newest.timestamp);
    std::uint64_t seen = newest.number;
    const AgentError too_late{AgentError::Kind::timed_out,
                              "the run did not end before the deadline; it may go on"};
    AgentError last = too_late;
    look_for_goal(watch, deadline);
    auto ask_at = before.empty() ? Clock::now() : watch.ask_next(Clock::now(), feed_->is_live());
    while (Clock::now() < deadline) {
        const auto statuses = feed_->wait_status(seen, std::min(ask_at, deadline));
        if (!statuses) return AgentFailure(statuses.error());
        for (const SeenStatus& each : *statuses) {
            seen = each.number;
            if (each.goal)
                watch.goal(*each.goal);
            else
                watch.saw(each.status, each.after_run, each.timestamp);
            if (ends_run(each.status) || each.goal == false)
                ask_at = std::min(ask_at, RunWatch::ask_after_end(Clock::now()));
        }
        if (watch.over()) look_for_goal(watch, deadline);
        if (const auto over = watch.over()) return conclude(*over, deadline);
        if (Clock::now() < ask_at) continue;
        const auto info = feed_->ask_info(std::min<milliseconds>(ask_patience, left_until(deadline)));
        if (info) {
            if (confirmed(watch, *info, deadline)) return conclude(status_in(*info), deadline);
            last = too_late;
        } else {
            if (!may_pass(info.error().kind)) return AgentFailure(info.error());
            if (const auto failed = watch.failed_by_socket()) return conclude(*failed, deadline);
            if (Clock::now() < deadline) last = info.error();  // else it may only have had no time
            watch.failed();
        }
        ask_at = watch.ask_next(Clock::now(), feed_->is_live());
        if (!info) ask_at = std::max(ask_at, Clock::now() + info.error().retry_after);
    }
    return AgentFailure(last);
}

void RemoteConversation::look_for_goal(RunWatch& watch, Clock::time_point deadline) const {
    const auto goes_on = feed_->goal_goes_on(std::min(deadline, Clock::now() + verdict_patience));
    if (goes_on) watch.goal(*goes_on);
}

/// True when the run has ended with what REST said just now.
bool RemoteConversation::confirmed(RunWatch& watch, const std::string& info,
                                   Clock::time_point deadline) const {
    const std::string status = status_in(info);
    if (status == "finished" || status == "stuck") look_for_goal(watch, deadline);
    const std::size_t passed = status == "finished" ? hooks_passed(watch, info, deadline) : 0;
    return watch.confirm(status, Clock::now(), passed);
}

/// How many stop hooks have let the end pass that stands now. Tells `watch` how many there are.
std::size_t RemoteConversation::hooks_passed(RunWatch& watch, const std::string& info,
                                             Clock::time_point deadline) const {
    std::size_t hooks = stop_hooks_in(info);
    // Without a socket only the log says what they said.
    if (hooks > 0 && !feed_->is_live())
        static_cast<void>(feed_->reconcile(std::min(deadline, Clock::now() + verdict_patience)));
    std::size_t passed = 0;
    static_cast<void>(feed_->wait_events(Clock::now(), [&](const EventList& events) {
        if (hooks == 0 && has_stop_hook(events)) hooks = 1;
        if (hooks > 0) passed = stop_hooks_passed(events);
        return true;
    }));
    watch.expect_stop_hooks(hooks);
    return passed;
}

AgentResult<RunEnd> RemoteConversation::conclude(const std::string& status, Clock::time_point deadline) {
    const auto log_until = std::min(deadline, Clock::now() + log_patience);
    if (options_.reads_log) {
        const auto read = feed_->reconcile(log_until);
        if (!read && read.error().kind == AgentError::Kind::closed) return AgentFailure(read.error());
    }
    RunEnd end{status, ""};
    if (status == "error") end.reason = error_reason(log_until);
    if (status == "stuck") end.reason = "the agent repeats itself without getting on";
    return end;
}

std::string RemoteConversation::error_reason(Clock::time_point deadline) const {
    std::optional<std::string> reason;
    const auto is_there = [&](const EventList& events) {
        reason = reason_of_newest_error(events);
        return reason.has_value();
    };
    if (feed_->wait_events(Clock::now() + detail_patience, is_there)) return *reason;
    // Without a socket no frame says that it came.
    static_cast<void>(feed_->reconcile(deadline));
    static_cast<void>(feed_->wait_events(Clock::now(), is_there));
    return reason.value_or("the server gives no reason");
}

AgentResult<void> RemoteConversation::update_secrets(
    const std::vector<std::pair<std::string, SecretSource>>& secrets) const {
    std::vector<std::pair<std::string, Secret>> values;
    for (const auto& [name, source] : secrets) {
        try {
            values.emplace_back(name, source());
        } catch (const std::exception&) {  // its text may hold the secret
            return agent_failure(AgentError::Kind::invalid, "the secret " + name + " cannot be had");
        }
    }
    return calls_->update_secrets(values);
}

AgentResult<std::string> RemoteConversation::final_response() const {
    auto said = calls_->final_response();
    if (said || said.error().kind != AgentError::Kind::unsupported) return said;
    if (const auto read = feed_->reconcile(Clock::now() + calls_->server().deadlines().call); !read)
        return AgentFailure(read.error());
    return last_words(feed_->events()).value_or("");
}

void RemoteConversation::close() {
    if (closed_.exchange(true)) return;
    run_session_hooks(options_.hooks.session_end, "SessionEnd");
    calls_->close();
    if (feed_) feed_->stop();
}

}  // namespace epilogue::agent
