// Credentials that a platform refuses: all their deliveries are parked at once, one of them is tried every
// few minutes, and its success releases the others. Changes of many rows are made in small transactions; the
// credential's row says that some are left (`unsettled`), and any worker goes on with them.
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

/// The credential's row; locked when the credential is refused or a breaker of it open, else as last
/// committed. Errors of this and the following functions: the database's.
Result<CredentialRow> credential_state(Transaction& transaction, const std::string& credential);

/// A platform refused the credential at `now`: its deliveries are to be parked.
Result<void> credential_refused(Transaction& transaction, const std::string& credential,
                                const std::string& cause, Instant now);

/// A platform accepted the credential, or said no for another reason: its deliveries are to be released.
Result<void> credential_works(Transaction& transaction, const std::string& credential);

/// An operator wants a refused credential to be tried at once.
Result<void> probe_now(Transaction& transaction, const std::string& credential, Instant now);

/// Parks or releases the deliveries that are left over from that; `entered` is told the state and how many
/// rows entered it.
Result<void> settle_credential(Store& store, const std::string& credential,
                               const std::function<void(DeliveryState, std::int64_t)>& entered);

/// Counts a refused credential as working again when no delivery is parked for it: there is none that could
/// be tried in its name.
Result<void> forget_parked(Store& store, const std::string& credential);

}  // namespace epilogue
