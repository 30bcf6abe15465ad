// The life of one post, as its durable row has it (sinks.md §2). Pure: (row, what happened) -> row.
// Transition table: tests/golden/delivery.txt.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace epilogue {

enum class DeliveryState {
    planned,  ///< owed; never tried
    sending,  ///< an intent is durable; the request may be out
    unknown,  ///< the answer was lost: to be looked for before anything else
    retry,    ///< a definite no; to be tried again
    sent,     ///< visible
    failed,   ///< refused for good
    parked,   ///< waits for an operator, or for its credential to be mended
};
std::string_view name_of(DeliveryState state);  ///< as the table spells it: "PLANNED", …
std::optional<DeliveryState> delivery_state_named(std::string_view name);

/// So long after its time a post that was not tried is overdue. Due rows are taken at once, unless the pool
/// was away, or the database was set back and the row has forgotten what was posted since: so an overdue post
/// is looked for first.
constexpr std::chrono::seconds overdue_after{60};
/// Whether nothing more will happen to it by itself: SENT or FAILED.
bool is_final(DeliveryState state);

/// Why a look-up failed.
enum class LookFailure {
    rate,      ///< refused for its rate
    platform,  ///< the platform is down, or this place of it
    unusable,  ///< it answered with something that is of no use, and may do so for ever
};

struct DeliveryProgress {
    DeliveryState state = DeliveryState::planned;
    int attempt = 0;         ///< requests whose intent was made durable
    int lookups = 0;         ///< since the last intent, look-ups that saw nothing
    int look_failures = 0;   ///< look-ups that failed in a row, for whatever reason but their rate
    int unusable_looks = 0;  ///< of them in a row, those that the platform answered with nothing of use
    std::string cause;       ///< why it is not sent; empty while nothing went wrong
    std::string remote_id;
    std::string remote_url;
    std::optional<std::chrono::milliseconds> wait;  ///< until the next claim, from the moment of the step
    bool operator==(const DeliveryProgress&) const = default;

    /// A look-up failed; one that was refused for its rate counts for nothing.
    void count_failed_look(LookFailure why);
    void forget_failed_looks();
};

/// What a sender that claimed the row has to do first.
enum class NextAction { nothing, look, send };
NextAction next_action(const DeliveryProgress& progress);

// What happened to a claimed row.
struct IntentMade {};  ///< the next byte may leave
struct AnsweredSent {
    std::string remote_id;
    std::string remote_url;
};
struct AnsweredRetry {
    std::string cause;
    std::chrono::milliseconds wait{0};  ///< the platform's own, or the backoff's
};
struct AnsweredRefused {
    std::string cause;
};
struct AnsweredUnauthorised {
    std::string cause;
};
struct AnswerLost {
    std::string cause;
};
struct FoundOnPlatform {  ///< a look-up saw it
    std::string remote_id;
    std::string remote_url;
};
struct NotFound {};
struct LookFailed {  ///< the look-up itself failed: says nothing about the post
    std::string cause;
    std::chrono::milliseconds wait{0};
    LookFailure why = LookFailure::platform;
};
struct LookForbidden {
    std::string cause;
};
struct CredentialRefused {  ///< by the answer to another delivery of the same credential
    std::string cause;
};
struct CredentialTried {};  ///< a delivery that was parked for its credential is tried for all of them
struct OperatorRetry {};
struct OperatorSaysSent {
    std::string remote_url;
};
struct OperatorSaysNotSent {};
using DeliveryEvent =
    std::variant<IntentMade, AnsweredSent, AnsweredRetry, AnsweredRefused, AnsweredUnauthorised, AnswerLost,
                 FoundOnPlatform, NotFound, LookFailed, LookForbidden, CredentialRefused, CredentialTried,
                 OperatorRetry, OperatorSaysSent, OperatorSaysNotSent>;

/// One step; nullopt when the event cannot happen in that state (nothing may be written then).
std::optional<DeliveryProgress> step(const DeliveryProgress& progress, const DeliveryEvent& event);

/// How long after a lost answer the first, second and third look-up are made: 3 s, 15 s, 60 s. After the
/// third that sees nothing the post is tried again.
std::optional<std::chrono::milliseconds> settle_before_lookup(int lookups_done);

/// A post that may be visible is parked when so many look-ups in a row were answered with nothing of use.
constexpr int most_unusable_looks = 20;

constexpr std::string_view cause_credential = "credential";
/// Parked for its credential.
bool waits_for_credential(const DeliveryProgress& progress);
constexpr std::string_view cause_cannot_look_up = "cannot_look_up";
/// Parked because work at it crashed one worker after the other (base/under_way.h). It may be visible.
constexpr std::string_view cause_crashes = "its handling ended two workers";

}  // namespace epilogue
