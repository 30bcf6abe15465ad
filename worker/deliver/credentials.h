// Credentials that a platform refuses: all their deliveries are parked at once, one is tried now and then,
// and its success lets the others go. Whoever changes many rows does it in small transactions, which any
// worker goes on with (`unsettled`).
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "worker/core/delivery.h"
#include "worker/store/credential_rows.h"
#include "worker/store/store.h"

namespace epilogue {

/// How often a refused credential is tried again.
constexpr std::chrono::minutes probe_every{5};

/// How it stands, locked when it is parked.
Result<CredentialRow> credential_state(Transaction& transaction, const std::string& credential);

/// A platform refused it at `now`.
Result<void> credential_refused(Transaction& transaction, const std::string& credential,
                                const std::string& cause, Instant now);

/// A platform took it, or said no for another reason.
Result<void> credential_works(Transaction& transaction, const std::string& credential);

/// It may be tried again at once: an operator wants it.
Result<void> probe_now(Transaction& transaction, const std::string& credential, Instant now);

/// Parks, or lets go, what is still to be; `entered` is told the state and how many rows entered it.
Result<void> settle_credential(Store& store, const std::string& credential,
                               const std::function<void(DeliveryState, std::int64_t)>& entered);

/// Nothing is parked for it any more, so nothing can be tried in its name: it counts as working until it is
/// refused again.
Result<void> forget_parked(Store& store, const std::string& credential);

}  // namespace epilogue
