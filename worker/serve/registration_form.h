// A registration as a user asks for it, by command line or by JSON: `callbacks add`, POST /api/callbacks.
#pragma once

#include <string>
#include <string_view>

#include "base/config.h"
#include "worker/apply/registration.h"
#include "worker/store/callback_rows.h"

namespace epilogue {

/// The options of `callbacks add`.
struct RegistrationForm {
    std::string conversation;
    std::string processor;              ///< short name or upstream's dotted one
    std::string processor_json = "{}";  ///< where to
    std::string mode;                   ///< empty: once
    std::string triggers;               ///< separated by commas; empty: all
    std::string from = "last";  ///< last: report the last end too when no turn is open; next: only later ones
    std::string agent_url;      ///< base URL of the conversation's own agent server; empty: not given
    Secret agent_key;           ///< its session key; needs an agent_url
    bool again = false;         ///< another callback also where an equal one is still to report
};

/// Whether a user's key of a request can be kept.
bool is_request_key(std::string_view key);
constexpr std::string_view expected_request_key = "expected 1 to 255 visible ASCII characters";

/// The request whose key a user chose: it registers once within a day, and takes no other options. Poison for
/// a key that cannot be kept.
Result<IdempotentRequest> kept_request(const std::string& key, const RegistrationForm& form);

/// The request that a form asks for, to be watched by `watch`; register_callback looks at its conversation
/// and processor. Seals the agent server's key with `[security] keys`. Poison names the field and what was
/// expected of it.
Result<RegistrationRequest> request_of(const RegistrationForm& form, const Config& config,
                                       const WatchRules& watch);

/// Why a body is no form.
struct BodyFault {
    bool is_json = false;  ///< it is a JSON object, but not what a registration takes
    std::string detail;    ///< names the field; never the text itself
};

/// Reads {"conversation_id", "processor_type", "processor_json"?: object or string, "options"?: {"mode"?,
/// "triggers"?: array or comma list, "from"?}, "agent_url"?, "agent_key"?, "again"?: boolean}: the names of a
/// callback that is shown. The command line's names do too: "conversation", "processor", and the options
/// beside them. A member that is none of these, or that comes by both names, is a fault; null means not
/// given.
tl::expected<RegistrationForm, BodyFault> form_from_json(std::string_view body);

}  // namespace epilogue
