// Registering, cancelling and waking callbacks: the other side of the batch rule. Both sides lock the
// conversation's row first and then read the other's rows, so the second transaction sees what the first did
// (architecture §1.4).
#pragma once

#include <string>

#include "base/ids.h"
#include "worker/apply/planner.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/store.h"

namespace epilogue {

/// What begins with a callback's watch.
struct WatchRules {
    std::chrono::seconds inactivity{7200};  ///< [worker] inactivity_timeout_s
    bool default_agent_server = false;      ///< [agent_server] url is set: every conversation has a server
};

struct RegistrationRequest {
    std::string conversation_id;
    std::string processor_type;
    std::string processor_json;
    CallbackOptions options;
    WatchRules watch;
    std::string idempotency_key;                 ///< the same key registers once; empty: one is made up
    std::optional<AgentEndpoint> endpoint = {};  ///< of the conversation; none: what is known of it stays
    std::optional<IdempotentRequest> kept =
        {};              ///< of a request with a key of its own, `registration` left empty
    bool again = false;  ///< another callback also where an equal one is still to report
};

struct Registered {
    CallbackId callback_id;
    bool existed = false;      ///< the key was used before: this is that callback
    bool is_equal = false;     ///< an equal one is still to report: this is that callback
    std::string planned_sink;  ///< of a delivery for the last end; empty: none
};

/// Adds a callback, or finds the one that its key or an equal registration has made (contract §4); one that
/// is dormant is woken by its equal. Errors: poison for a conversation id or processor_json that cannot be
/// used (the text names the field), and for a kept request whose key came with another body before; else the
/// database's.
Result<Registered> register_callback(Store& store, const Planner& planner,
                                     const RegistrationRequest& request);

/// A callback that begins to watch, inside the transaction that locked its conversation: reports the
/// conversation's last end (only when no turn is open, where it was not told before, and unless the callback
/// is `--from next`), or starts the watch over the open turn's inactivity; and asks for what the agent server
/// knows, where the topic may have lost it. Returns the sink of a planned delivery through `planned`.
Result<void> begin_watch(Transaction& transaction, const Planner& planner, const Conversation& conversation,
                         CallbackRow& callback, Instant now, const WatchRules& watch,
                         std::string* planned = nullptr);

/// Steps one callback from outside; true when the id exists.
Result<bool> cancel_callback(Store& store, CallbackId id);
/// What waking a callback did.
enum class Woken {
    unknown,  ///< nothing: there is no such callback
    over,     ///< nothing: it is done, cancelled or in error
    awake,    ///< nothing: it was awake, and no agent server has anything to be asked
    asked,    ///< it was awake; the agent server is asked at once
    woken,    ///< it slept, and watches now
};
/// Waking is adopting again: an old end is reported too. Of one that is awake the agent server is asked at
/// once what is still to be asked.
Result<Woken> wake_callback(Store& store, const Planner& planner, CallbackId id, const WatchRules& watch);

}  // namespace epilogue
