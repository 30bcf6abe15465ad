#include "tests/sim/agent_logs.h"

#include "schemas/decode.h"

namespace epilogue::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds call_ends_after{30};

tl::unexpected<LogReadError> read_error(Hindrance why, const char* text) {
    return tl::unexpected(LogReadError{why, text});
}

/// What has happened of it by now.
ServerLog told_until(const std::vector<TimedEvent>& events, Micros now) {
    ServerLog log;
    Decoder decoder;
    for (const TimedEvent& each : events) {
        if (each.at > now) break;
        Decoded decoded = decoder.decode(each.value);
        log.events.push_back(std::move(std::get<Event>(decoded)));
    }
    return log;
}

std::string newest_status(const ServerLog& log) {
    for (auto event = log.events.rbegin(); event != log.events.rend(); ++event)
        if (const auto* change = std::get_if<StatusChange>(&event->body)) return change->status;
    return "idle";
}

}  // namespace

void AgentLogs::keep(const std::string& conversation_id, Micros since, std::vector<TimedEvent> events) {
    kept_[conversation_id] = {since, std::move(events)};
}

std::vector<TimedEvent> AgentLogs::events_of(const std::string& conversation_id) const {
    const auto found = kept_.find(conversation_id);
    return found == kept_.end() ? std::vector<TimedEvent>() : found->second.events;
}

std::optional<Micros> AgentLogs::read_at(const std::string& conversation_id) const {
    const auto found = read_at_.find(conversation_id);
    return found == read_at_.end() ? std::nullopt : std::optional(found->second);
}

AgentLogSource AgentLogs::asked_by(Process& process) {
    return {[this, &process](const std::string& conversation_id, const std::stop_token&) {
                return ask(conversation_id, process);
            },
            [this](const std::string& conversation_id) {
                return Result<std::string>(frozen_.contains(conversation_id) ? "frozen" : "alive");
            }};
}

tl::expected<ServerLog, LogReadError> AgentLogs::ask(const std::string& conversation_id, Process& process) {
    Faults& faults = schedule_.faults;
    Random& random = schedule_.random;
    process.pass(Point::log_asked);
    if (frozen_.contains(conversation_id)) {
        process.wait(call_ends_after);
        return read_error(Hindrance::unreachable, "frozen");
    }
    if (schedule_.now() < absent_until_) return read_error(Hindrance::unreachable, "away for long");
    if (faults.strikes(Fault::agent_away))
        away_until_ = schedule_.now() + random.between(Micros(seconds{1}), Micros(seconds{60}));
    if (!faults.healed() && schedule_.now() < away_until_) return read_error(Hindrance::unreachable, "away");
    if (faults.strikes(Fault::agent_hangs)) {
        process.wait(call_ends_after);
        return read_error(Hindrance::unreachable, "no answer");
    }
    process.wait(random.between(Micros(milliseconds{5}), Micros(seconds{2})));
    if (faults.strikes(Fault::agent_refuses)) return read_error(Hindrance::unauthorised, "401");
    const auto found = kept_.find(conversation_id);
    if (found == kept_.end() || schedule_.now() < found->second.since)
        return read_error(Hindrance::unknown, "404");
    ServerLog log = told_until(found->second.events, schedule_.now());
    schedule_.say("{} reads {} events of {}", process.name(), log.events.size(), conversation_id);
    // The status is another call; the conversation may have gone on.
    if (faults.strikes(Fault::agent_went_on))
        process.wait(random.between(Micros(milliseconds{5}), Micros(seconds{3})));
    log.status = newest_status(told_until(found->second.events, schedule_.now()));
    process.pass(Point::log_answered);
    read_at_.try_emplace(conversation_id, schedule_.now());
    return log;
}

}  // namespace epilogue::sim
