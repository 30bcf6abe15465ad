#include "worker/core/delivery.h"

#include <array>

#include "base/enum_names.h"
#include "base/mutant.h"

namespace epilogue {
namespace {

constexpr EnumNames<DeliveryState, 7> state_names{
    {"PLANNED", "SENDING", "UNKNOWN", "RETRY", "SENT", "FAILED", "PARKED"}};
static_assert(state_names.ends_with(DeliveryState::parked));

constexpr std::array<std::chrono::seconds, 3> lookup_settle{std::chrono::seconds{3}, std::chrono::seconds{15},
                                                            std::chrono::seconds{60}};
using Next = std::optional<DeliveryProgress>;

struct Stepper {
    const DeliveryProgress& now;

    bool in(DeliveryState state) const { return now.state == state; }
    bool may_be_out() const { return in(DeliveryState::sending) || in(DeliveryState::unknown); }
    /// A row that is long overdue may be out as well: what is known of it may have been lost.
    bool may_be_looked_for() const {
        return may_be_out() || in(DeliveryState::planned) || in(DeliveryState::retry);
    }

    DeliveryProgress to(DeliveryState state, std::string cause,
                        std::optional<std::chrono::milliseconds> wait = std::nullopt) const {
        DeliveryProgress next = now;
        next.state = state;
        next.cause = std::move(cause);
        next.wait = wait;
        return next;
    }
    DeliveryProgress sent(std::string id, std::string url) const {
        DeliveryProgress next = to(DeliveryState::sent, "");
        next.remote_id = std::move(id);
        next.remote_url = std::move(url);
        return next;
    }

    DeliveryProgress cannot_look_up(const std::string& why) const {
        return to(DeliveryState::parked, std::string(cause_cannot_look_up) + ": " + why);
    }

    Next operator()(const IntentMade&) const {
        // From UNKNOWN only after the last look-up saw nothing; never straight from a lost answer.
        const bool looked_enough = (in(DeliveryState::unknown) && !settle_before_lookup(now.lookups)) ||
                                   mutant(Mutant::look_up_skipped);
        if (!in(DeliveryState::planned) && !in(DeliveryState::retry) && !looked_enough) return std::nullopt;
        DeliveryProgress next = to(DeliveryState::sending, now.cause);
        next.attempt += 1;
        next.lookups = 0;
        next.forget_failed_looks();
        return next;
    }
    Next operator()(const AnsweredSent& answer) const {
        if (!in(DeliveryState::sending)) return std::nullopt;
        return sent(answer.remote_id, answer.remote_url);
    }
    Next operator()(const AnsweredRetry& answer) const {
        if (!in(DeliveryState::sending)) return std::nullopt;
        return to(DeliveryState::retry, answer.cause, answer.wait);
    }
    Next operator()(const AnsweredRefused& answer) const {
        if (!in(DeliveryState::sending)) return std::nullopt;
        return to(DeliveryState::failed, answer.cause);
    }
    Next operator()(const AnsweredUnauthorised& answer) const {
        if (!in(DeliveryState::sending)) return std::nullopt;
        return to(DeliveryState::parked, std::string(cause_credential) + ": " + answer.cause);
    }
    Next operator()(const AnswerLost& lost) const {
        if (!in(DeliveryState::sending)) return std::nullopt;
        return to(DeliveryState::unknown, lost.cause, settle_before_lookup(0));
    }
    Next operator()(const FoundOnPlatform& found) const {
        if (!may_be_looked_for()) return std::nullopt;
        return sent(found.remote_id, found.remote_url);
    }
    Next operator()(const NotFound&) const {
        if (!may_be_out()) return std::nullopt;
        const auto wait = settle_before_lookup(now.lookups + 1);
        DeliveryProgress next =
            to(DeliveryState::unknown, now.cause, wait.value_or(std::chrono::milliseconds{0}));
        next.lookups += 1;
        next.forget_failed_looks();
        return next;
    }
    Next operator()(const LookFailed& failed) const {
        if (!may_be_looked_for()) return std::nullopt;
        DeliveryProgress next = to(DeliveryState::unknown, failed.cause, failed.wait);
        next.count_failed_look(failed.why);
        if (next.unusable_looks < most_unusable_looks) return next;
        DeliveryProgress parked = cannot_look_up(failed.cause);
        parked.look_failures = next.look_failures;
        parked.unusable_looks = next.unusable_looks;
        return parked;
    }
    Next operator()(const LookForbidden& forbidden) const {
        if (!may_be_out()) return std::nullopt;
        return cannot_look_up(forbidden.cause);
    }
    Next operator()(const CredentialRefused& refused) const {
        if (!in(DeliveryState::planned) && !in(DeliveryState::retry)) return std::nullopt;
        return to(DeliveryState::parked, refused.cause);
    }
    Next operator()(const CredentialTried&) const {
        if (!waits_for_credential(now)) return std::nullopt;
        return to(DeliveryState::retry, now.cause, std::chrono::milliseconds{0});
    }
    Next operator()(const OperatorRetry&) const {
        if (!in(DeliveryState::parked)) return std::nullopt;
        // A row that was parked because it could not be looked for may be out: it is looked for first, again.
        // So may be one whose sender crashed.
        const bool may_be_visible =
            now.cause.starts_with(cause_cannot_look_up) || now.cause.starts_with(cause_crashes);
        DeliveryProgress next = to(may_be_visible ? DeliveryState::unknown : DeliveryState::retry, now.cause,
                                   std::chrono::milliseconds{0});
        next.lookups = 0;
        next.forget_failed_looks();
        return next;
    }
    Next operator()(const OperatorSaysSent& verdict) const {
        if (!in(DeliveryState::parked) && !in(DeliveryState::unknown)) return std::nullopt;
        return sent(now.remote_id, verdict.remote_url);
    }
    Next operator()(const OperatorSaysNotSent&) const {
        if (!in(DeliveryState::parked) && !in(DeliveryState::unknown)) return std::nullopt;
        return to(DeliveryState::retry, now.cause, std::chrono::milliseconds{0});
    }
};

}  // namespace

std::string_view name_of(DeliveryState state) {
    return state_names.of(state);
}

std::optional<DeliveryState> delivery_state_named(std::string_view name) {
    return state_names.named(name);
}

void DeliveryProgress::count_failed_look(LookFailure why) {
    if (why != LookFailure::rate) look_failures += 1;
    if (why == LookFailure::unusable) unusable_looks += 1;
}

void DeliveryProgress::forget_failed_looks() {
    look_failures = 0;
    unusable_looks = 0;
}

bool is_final(DeliveryState state) {
    return state == DeliveryState::sent || state == DeliveryState::failed;
}

bool waits_for_credential(const DeliveryProgress& progress) {
    return progress.state == DeliveryState::parked && progress.cause.starts_with(cause_credential);
}

NextAction next_action(const DeliveryProgress& progress) {
    const bool is_open = !is_final(progress.state) && progress.state != DeliveryState::parked;
    if (mutant(Mutant::look_up_skipped) && is_open) return NextAction::send;
    switch (progress.state) {
        case DeliveryState::planned:
        case DeliveryState::retry:
            return NextAction::send;
        case DeliveryState::unknown:
            return settle_before_lookup(progress.lookups) ? NextAction::look : NextAction::send;
        case DeliveryState::sending:
            return NextAction::look;
        case DeliveryState::sent:
        case DeliveryState::failed:
        case DeliveryState::parked:
            return NextAction::nothing;
    }
    return NextAction::nothing;
}

std::optional<DeliveryProgress> step(const DeliveryProgress& progress, const DeliveryEvent& event) {
    return std::visit(Stepper{progress}, event);
}

std::optional<std::chrono::milliseconds> settle_before_lookup(int lookups_done) {
    if (lookups_done < 0 || static_cast<std::size_t>(lookups_done) >= lookup_settle.size())
        return std::nullopt;
    if (mutant(Mutant::look_up_settle_ignored)) return std::chrono::milliseconds{0};
    return lookup_settle[static_cast<std::size_t>(lookups_done)];
}

}  // namespace epilogue
