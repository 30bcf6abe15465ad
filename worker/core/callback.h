// The callback machine: which counted turns a callback reports, and when it is done. Contract §4.
// Pure: (callback, event) -> (callback, effects). Transition table: tests/golden/callback.txt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/verdict.h"

namespace epilogue {

enum class Mode {
    once,        ///< done after the first reported turn
    until_done,  ///< done after the first reported turn that is not awaiting_user_input
    every_turn,  ///< reports until cancelled
};
std::string_view name_of(Mode mode);

/// What was asked for at registration: callback_progress.options.
struct CallbackOptions {
    Mode mode = Mode::once;
    std::vector<Verdict> triggers = all_verdicts();  ///< in the contract's order, never empty; notices last
    bool from_last = true;  ///< told of the conversation's last end too, when no turn is open
    /// What OpenHands itself told of the conversation before this callback was ours: of V1 the id of the
    /// status that ended the newest turn it posted; of V0, in decimal, the newest user message it had
    /// handled. Empty: nothing.
    std::string told = {};
};

/// The options as JSON: {"mode":"once","triggers":["finished",…]}, "from":"next" where the last end is
/// left out, and "told" where OpenHands told something.
std::string to_json(const CallbackOptions& options);
/// Reads to_json's form; poison when it has another.
Result<CallbackOptions> options_from_json(std::string_view json);
/// Reads --mode and --triggers; an empty text means the default. The error says what is accepted.
Result<CallbackOptions> parse_options(std::string_view mode, std::string_view triggers);

enum class Phase {
    watching,    ///< reports the next turn that has one of its triggers
    delivering,  ///< its last report is planned; nothing more will be
    done,        ///< its last report was sent
    cancelled,
    dormant,  ///< adopted from old rows: asleep until woken
    error,    ///< the sink refused for good, or the row is unusable
};
std::string_view name_of(Phase phase);
std::optional<Phase> phase_named(std::string_view name);

/// upstream's column conversation_callbacks.status.
enum class CallbackStatus { active, completed, error };
std::string_view name_of(CallbackStatus status);
CallbackStatus status_of(Phase phase);

struct CallbackState {
    Phase phase = Phase::watching;
    std::string reason;     ///< why it is in error; of one that waits: what keeps its log from being read
    TurnKey last_turn_key;  ///< of the last turn it reported; empty: none
    bool operator==(const CallbackState&) const = default;
};

// What happens to a callback.
struct TurnCounted {
    TurnKey turn_key;
    Verdict verdict = Verdict::finished;
    bool opened_after_adoption = true;  ///< the turn began when the callback was there already
    std::string status_event = {};      ///< id of the status that ended it
    /// The callback wants only turns that came from its own place, and this one did not.
    bool is_from_elsewhere = false;
};
/// An open turn waits for a person.
struct TurnHeldUp {
    TurnKey key;  ///< the notice's own
    Verdict verdict = Verdict::paused;
    bool is_from_elsewhere = false;  ///< as the turn's
};
struct DeliverySent {
    TurnKey turn_key;
};
struct DeliveryRefused {  ///< the sink said a final no
    TurnKey turn_key;
    std::string reason;
    bool is_notice = false;
};
struct CancelAsked {};
struct WakeAsked {};
struct RowFound {  ///< the row cannot be used
    std::string reason;
};
struct LogUnread {  ///< the agent server did not tell what it is to tell
    std::string reason;
};
struct LogRead {};  ///< it did, or the topic did
using CallbackEvent = std::variant<TurnCounted, TurnHeldUp, DeliverySent, DeliveryRefused, CancelAsked,
                                   WakeAsked, RowFound, LogUnread, LogRead>;

/// A post that is owed from now on: one row in deliveries.
struct PlanDelivery {
    TurnKey turn_key;  ///< or the notice's key
    Verdict verdict = Verdict::finished;
};

struct CallbackStep {
    CallbackState state;
    std::optional<PlanDelivery> plan;
};

/// One step. Nothing outside (state, options, event) enters it.
CallbackStep step(const CallbackState& state, const CallbackOptions& options, const CallbackEvent& event);

}  // namespace epilogue
