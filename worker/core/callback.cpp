#include "worker/core/callback.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/enum_names.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr EnumNames<CallbackStatus, 3> status_names{{"ACTIVE", "COMPLETED", "ERROR"}};
static_assert(status_names.ends_with(CallbackStatus::error));

constexpr EnumNames<Phase, 6> phase_names{
    {"watching", "delivering", "done", "cancelled", "dormant", "error"}};
static_assert(phase_names.ends_with(Phase::error));

constexpr EnumNames<Mode, 3> mode_names{{"once", "until_done", "every_turn"}};
static_assert(mode_names.ends_with(Mode::every_turn));

bool reports(const CallbackOptions& options, Verdict verdict) {
    return std::find(options.triggers.begin(), options.triggers.end(), verdict) != options.triggers.end();
}

/// True when the report of this verdict is the callback's last.
bool closes(Mode mode, Verdict verdict) {
    switch (mode) {
        case Mode::once:
            return true;
        case Mode::until_done:
            return verdict != Verdict::awaiting_user_input;
        case Mode::every_turn:
            return false;
    }
    return true;
}

/// A V0 event's id, which is a number; nullopt for all others.
std::optional<std::int64_t> number_of(std::string_view id) {
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(id.data(), id.data() + id.size(), number);
    if (fault != std::errc() || end != id.data() + id.size()) return std::nullopt;
    return number;
}

/// OpenHands posted this turn, or asked the agent to sum it up in another one.
bool was_told(const CallbackOptions& options, const TurnCounted& turn) {
    if (options.told.empty()) return false;
    if (turn.status_event == options.told) return true;
    const auto handled = number_of(options.told);
    const auto opening = number_of(turn.turn_key);
    return handled && opening && *opening <= *handled;
}

std::optional<Mode> mode_named(std::string_view name) {
    return mode_names.named(name);
}

struct Stepper {
    const CallbackState& state;
    const CallbackOptions& options;

    CallbackStep unchanged() const { return {state, std::nullopt}; }
    CallbackStep to(Phase phase, std::string reason = {}) const {
        CallbackState next = state;
        next.phase = phase;
        next.reason = std::move(reason);
        return {std::move(next), std::nullopt};
    }
    bool is_open() const { return state.phase == Phase::watching || state.phase == Phase::delivering; }

    bool waits() const { return state.phase == Phase::watching || state.phase == Phase::dormant; }

    CallbackStep operator()(const TurnCounted& turn) const {
        // Asleep, it reports what began after it was adopted, but never an inactivity.
        const bool stirs =
            state.phase == Phase::dormant && turn.opened_after_adoption && turn.verdict != Verdict::timeout;
        if ((state.phase != Phase::watching && !stirs) || !reports(options, turn.verdict)) return unchanged();
        if (turn.is_from_elsewhere || was_told(options, turn)) return unchanged();
        CallbackStep next = to(closes(options.mode, turn.verdict) ? Phase::delivering : state.phase);
        next.state.last_turn_key = turn.turn_key;
        next.plan = PlanDelivery{turn.turn_key, turn.verdict};
        return next;
    }
    CallbackStep operator()(const TurnHeldUp& turn) const {
        CallbackStep next = unchanged();
        if (state.phase == Phase::watching && reports(options, turn.verdict) && !turn.is_from_elsewhere)
            next.plan = PlanDelivery{turn.key, turn.verdict};
        return next;
    }
    CallbackStep operator()(const DeliverySent& sent) const {
        const bool was_the_last = state.phase == Phase::delivering && sent.turn_key == state.last_turn_key;
        return was_the_last ? to(Phase::done) : unchanged();
    }
    CallbackStep operator()(const DeliveryRefused& refused) const {
        return is_open() && !refused.is_notice ? to(Phase::error, refused.reason) : unchanged();
    }
    CallbackStep operator()(const CancelAsked&) const {
        return is_open() || state.phase == Phase::dormant ? to(Phase::cancelled) : unchanged();
    }
    CallbackStep operator()(const WakeAsked&) const {
        return state.phase == Phase::dormant ? to(Phase::watching) : unchanged();
    }
    CallbackStep operator()(const RowFound& found) const {
        return is_open() || state.phase == Phase::dormant ? to(Phase::error, found.reason) : unchanged();
    }
    CallbackStep operator()(const LogUnread& unread) const {
        return waits() ? to(state.phase, unread.reason) : unchanged();
    }
    CallbackStep operator()(const LogRead&) const { return waits() ? to(state.phase) : unchanged(); }
};

}  // namespace

std::string_view name_of(Mode mode) {
    return mode_names.of(mode);
}

std::string_view name_of(Phase phase) {
    return phase_names.of(phase);
}

std::optional<Phase> phase_named(std::string_view name) {
    return phase_names.named(name);
}

std::string_view name_of(CallbackStatus status) {
    return status_names.of(status);
}

CallbackStatus status_of(Phase phase) {
    switch (phase) {
        case Phase::watching:
        case Phase::delivering:
        case Phase::dormant:
            return CallbackStatus::active;
        case Phase::done:
        case Phase::cancelled:
            return CallbackStatus::completed;
        case Phase::error:
            return CallbackStatus::error;
    }
    return CallbackStatus::error;
}

std::string to_json(const CallbackOptions& options) {
    nlohmann::ordered_json json{{"mode", name_of(options.mode)}, {"triggers", nlohmann::json::array()}};
    for (const Verdict verdict : options.triggers) json["triggers"].push_back(name_of(verdict));
    if (!options.from_last) json["from"] = "next";
    if (!options.told.empty()) json["told"] = options.told;
    return json.dump();
}

Result<CallbackOptions> options_from_json(std::string_view text) {
    const auto json = parse_json(text);
    if (!json.is_object()) return poisonous("options: expected a JSON object");
    CallbackOptions options;
    if (const auto mode = json.find("mode"); mode != json.end()) {
        const auto named = mode->is_string() ? mode_named(mode->get<std::string>()) : std::nullopt;
        if (!named) return poisonous("options: unknown mode");
        options.mode = *named;
    }
    if (const auto triggers = json.find("triggers"); triggers != json.end()) {
        if (!triggers->is_array() || triggers->empty())
            return poisonous("options: triggers: expected a list");
        options.triggers.clear();
        for (const auto& trigger : *triggers) {
            const auto verdict =
                trigger.is_string() ? verdict_named(trigger.get<std::string>()) : std::nullopt;
            if (!verdict) return poisonous("options: unknown trigger");
            options.triggers.push_back(*verdict);
        }
    }
    if (const auto from = json.find("from"); from != json.end()) options.from_last = *from != "next";
    if (const auto told = json.find("told"); told != json.end()) {
        if (!told->is_string()) return poisonous("options: told: expected an event's id");
        options.told = told->get<std::string>();
    }
    return options;
}

Result<CallbackOptions> parse_options(std::string_view mode, std::string_view triggers) {
    CallbackOptions options;
    if (!mode.empty()) {
        const auto named = mode_named(mode);
        if (!named)
            return poisonous("mode: expected once, until_done or every_turn, got \"" + std::string(mode) +
                             "\"");
        options.mode = *named;
    }
    if (trimmed(triggers).empty()) return options;
    std::vector<Verdict> asked;
    for (const std::string& name : split(triggers, ',')) {
        const auto verdict = verdict_named(name);
        if (!verdict)
            return poisonous(
                "triggers: expected some of finished, awaiting_user_input, error, stuck, rejected, stopped, "
                "timeout, waiting_for_confirmation, paused, got \"" +
                name + "\"");
        asked.push_back(*verdict);
    }
    if (asked.empty()) return poisonous("triggers: expected at least one");
    options.triggers.clear();
    for (const auto* known : {&all_verdicts(), &all_notices()})
        for (const Verdict verdict : *known)
            if (std::find(asked.begin(), asked.end(), verdict) != asked.end())
                options.triggers.push_back(verdict);
    return options;
}

CallbackStep step(const CallbackState& state, const CallbackOptions& options, const CallbackEvent& event) {
    return std::visit(Stepper{state, options}, event);
}

}  // namespace epilogue
