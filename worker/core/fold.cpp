#include <algorithm>
#include <chrono>
#include <utility>

#include "base/enum_names.h"
#include "base/mutant.h"
#include "base/text.h"
#include "worker/core/fold_step.h"
#include "worker/core/server_clock.h"

namespace epilogue {
namespace {

constexpr EnumNames<Applied, 3> applied_names{{"applied", "repeat", "late"}};
static_assert(applied_names.ends_with(Applied::late));

constexpr std::chrono::seconds late_by{30};

template <class T, class... Others>
constexpr bool is_any_of = (std::is_same_v<T, Others> || ...);

bool steers(const Event& event) {
    return std::visit(
        [](const auto& body) {
            return is_any_of<std::decay_t<decltype(body)>, UserMessage, AgentMessage, StatusChange,
                             ErrorDetail, GoalUpdate, StopHookVerdict>;
        },
        event.body);
}

/// Its id is remembered, so that it is known when it comes again.
bool is_remembered(const Event& event) {
    return steers(event) || std::holds_alternative<RunOver>(event.body);
}

}  // namespace

bool is_newer(const std::optional<Instant>& at, const std::optional<Instant>& than) {
    return !than || (at && *at > *than);
}

void FoldStep::fire_timer(Instant now) {
    const auto due = due_at(conversation_);
    if (!due || *due > now) return;
    if (auto* candidate = std::get_if<Candidate>(&conversation_.turn_state))
        count(*candidate);
    else if (auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state))
        count(*awaiting);
    else
        end_inactivity(now);
}

void FoldStep::apply(const Event& event, Instant at) {
    if (auto* none = std::get_if<NoTurn>(&conversation_.turn_state)) none->due.reset();
    conversation_.last_event_at = at;
    event_ = &event;
    at_ = at;
    if (is_repeat()) {
        applied_ = Applied::repeat;
    } else {
        const bool is_first = conversation_.recent.empty() && !conversation_.newest;
        by_seq_ = event.seq && (conversation_.follows_seq || is_first);
        read_time();
        apply_new();
    }
    conversation_ = epilogue::watch_inactivity(std::move(conversation_), rules_.inactivity);
}

void FoldStep::read_time() {
    time_ = event_->timestamp;
    if (is_v0() || !time_ || event_->is_utc) return;
    const ClockReading reading = read_clock(*time_, at_, conversation_);
    std::optional<ClockJump> jump = std::exchange(conversation_.clock_jump, std::nullopt);
    // An agent's action has no id that is remembered: it may be an old one that is read again. It can confirm
    // what others have shown of the clock, and shows nothing by itself.
    const bool may_be_old = !is_remembered(*event_);
    if (reading.kind == ClockReading::Kind::jumped && may_be_old && (!jump || jump->zone != reading.zone)) {
        conversation_.clock_jump = std::move(jump);
    } else if (reading.kind == ClockReading::Kind::ahead && conversation_.zone && may_be_old) {
        conversation_.clock_jump = std::move(jump);
        *time_ -= reading.zone;
        return;
    } else if (reading.kind == ClockReading::Kind::ahead) {
        // What is remembered was written in that zone as well, or becomes older than it was, which harms
        // nothing.
        shift_times(conversation_, conversation_.zone.value_or(std::chrono::minutes{0}) - reading.zone);
        conversation_.zone = reading.zone;
    } else if (reading.kind == ClockReading::Kind::jumped) {
        if (!jump || jump->zone != reading.zone) jump = ClockJump{reading.zone, 0, {}};
        ++jump->events;
        if (jump->events < events_show_jump)
            conversation_.clock_jump = std::move(jump);
        else
            apply_held(std::move(*jump));
    } else if (may_be_old || !is_newer(*time_ - conversation_.zone.value_or(std::chrono::minutes{0}),
                                       conversation_.newest)) {
        conversation_.clock_jump = std::move(jump);  // an old event shows nothing of the clock
    }
    time_ = *event_->timestamp - conversation_.zone.value_or(std::chrono::minutes{0});
}

void FoldStep::apply_held(ClockJump jump) {
    conversation_.zone = jump.zone;
    const Event* const event = std::exchange(event_, nullptr);
    const Instant at = at_;
    for (const HeldEvent& held : jump.held) {
        event_ = &held.event;
        at_ = held.at;
        time_ = *held.event.timestamp - jump.zone;
        fire_timer(at_);
        std::visit([this](const auto& body) { on(body); }, held.event.body);
    }
    event_ = event;
    at_ = at;
    fire_timer(at_);
}

void FoldStep::apply_new() {
    remember();
    if (event_->has_stop_hook) note_stop_hook(*event_->has_stop_hook);
    if (is_late()) {
        applied_ = Applied::late;
        if (conversation_.clock_jump) {
            conversation_.clock_jump->held.push_back({*event_, at_});
            conversation_.clock_jump->held.back().event.work.clear();
        }
    } else {
        std::visit([this](const auto& body) { on(body); }, event_->body);
    }
    if (rules_.keep_digest) add_work();
}

void FoldStep::add_work() {
    for (const Work& work : event_->work)
        if (const auto* told = std::get_if<UsageTold>(&work)) {
            // Sums only grow: what is less is older.
            UsageTold& usage = conversation_.usage ? *conversation_.usage : conversation_.usage.emplace();
            usage = {std::max(usage.cost, told->cost), std::max(usage.tokens_in, told->tokens_in),
                     std::max(usage.tokens_out, told->tokens_out)};
        }
    auto* awaiting = std::get_if<AwaitingDetail>(&conversation_.turn_state);
    Turn* turn = awaiting != nullptr ? &awaiting->turn : open_turn();
    if (turn == nullptr) return;
    const Digest::Order order = order_in(turn->digest);
    if (const auto* action = std::get_if<AgentAction>(&event_->body))
        note_step(turn->digest, action->step, order);
    // A model that answers with nothing.
    if (const auto* said = std::get_if<AgentMessage>(&event_->body);
        said != nullptr && said->kind == MessageKind::message && trimmed(said->text).empty())
        note_step(turn->digest, "", order);
    for (const Work& work : event_->work) add(turn->digest, work, order);
}

Digest::Order FoldStep::order_in(const Digest& digest) const {
    if (is_v0()) return event_->number;
    const Digest::Order next = digest.newest + 1;
    if (!time_) return next;
    const Digest::Order own = time_->time_since_epoch().count();
    return by_seq_ ? std::max(own, next) : own;
}

bool FoldStep::is_repeat() const {
    if (is_v0()) return event_->number <= conversation_.highest_number;
    if (mutant(Mutant::repeat_counted)) return false;
    if (event_->seq && *event_->seq <= conversation_.highest_seq) return true;
    const auto& recent = conversation_.recent;
    return is_remembered(*event_) && std::find(recent.begin(), recent.end(), event_->id) != recent.end();
}

void FoldStep::remember() {
    if (event_->seq) conversation_.highest_seq = *event_->seq;
    if (event_->seq && (by_seq_ || is_newest()))
        conversation_.follows_seq = true;
    else if (could_steer(*event_))
        conversation_.follows_seq = false;
    if (is_v0()) {
        conversation_.highest_number = event_->number;
    } else if (is_remembered(*event_)) {
        conversation_.recent.push_back(event_->id);
        if (conversation_.recent.size() > max_recent_ids)
            conversation_.recent.erase(conversation_.recent.begin());
    }
}

bool FoldStep::is_late() const {
    return !is_in_order() && could_steer(*event_) && time_ && conversation_.newest_status &&
           *time_ + late_by < *conversation_.newest_status;
}

bool FoldStep::is_newest() const {
    return is_in_order() || is_newer(time_, conversation_.newest);
}

bool FoldStep::is_stale(const StatusChange& change) const {
    if (change.status != "running" || is_newest() || mutant(Mutant::stale_running_kept)) return false;
    const bool is_open = std::holds_alternative<Open>(conversation_.turn_state);
    return !is_open || !is_newer(time_, conversation_.newest_status);
}

std::string_view name_of(Applied applied) {
    return applied_names.of(applied);
}

bool could_steer(const Event& event) {
    return steers(event) || std::holds_alternative<AgentAction>(event.body);
}

bool is_for_watchers(const Event& event) {
    return event.schema == Schema::v1 && std::holds_alternative<Activity>(event.body) && !event.has_stop_hook;
}

Folded fold(Conversation conversation, const Event& event, Instant at, const FoldRules& rules) {
    FoldStep step(std::move(conversation), rules);
    step.fire_timer(at);
    step.apply(event, at);
    return std::move(step).result();
}

Folded tick(Conversation conversation, Instant now, const FoldRules& rules) {
    FoldStep step(std::move(conversation), rules);
    step.fire_timer(now);
    return std::move(step).result();
}

}  // namespace epilogue
