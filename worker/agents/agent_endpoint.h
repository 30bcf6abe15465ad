// Stores where a conversation's own agent server is, from the address and session key that a user gave.
#pragma once

#include <string>
#include <string_view>

#include "base/config.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/store.h"

namespace epilogue {

/// The row to keep; the key (empty: the server takes none) is sealed with the first of `[security] keys`.
/// Poison names the field, agent_url or agent_key, and what was expected; never what it holds.
Result<AgentEndpoint> endpoint_to_keep(std::string_view conversation, const std::string& url,
                                       const Secret& key, const Config& config);

/// Keeps it, in the place of what was known of the conversation's server. What was asked in vain is asked
/// again at once; so is what a callback waits for and could not be asked for want of a server. Errors: the
/// database's.
Result<void> keep_endpoint(Store& store, const AgentEndpoint& endpoint);

}  // namespace epilogue
