#include "worker/deliver/admission.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "worker/deliver/credentials.h"
#include "worker/store/credential_rows.h"

namespace epilogue {
namespace {

using RefusedCredentials = std::map<std::string, CredentialRow>;

/// The credential that the row waited for; it may no longer be the configured one.
std::string credential_before(const ClaimedDelivery& claimed) {
    return claimed.row.credential.empty() ? claimed.quota.credential : claimed.row.credential;
}

/// Those of the delivery's credentials, present and former, that are refused at the moment.
Result<RefusedCredentials> refused_of(Transaction& transaction, const ClaimedDelivery& claimed) {
    RefusedCredentials refused;
    for (const std::string& name : std::set{claimed.quota.credential, credential_before(claimed)}) {
        TRY(auto state, credential_state(transaction, name));
        if (state.parked_since) refused.emplace(name, std::move(state));
    }
    return refused;
}

bool may_try(const RefusedCredentials& refused, const std::string& name, Instant now) {
    const auto found = refused.find(name);
    return found == refused.end() || found->second.probe_at.value_or(now) <= now;
}

/// From now on the row counts against the credential and the window that its sink says.
void note_quota(ClaimedDelivery& claimed) {
    claimed.row.credential = claimed.quota.credential;
    claimed.row.rate_window = claimed.quota.window;
}

/// Parks the delivery. A row that cannot be parked has to be looked for; the look-up would be refused as
/// well, so it waits until the credential has been tried.
void wait_for_credential(const CredentialRow& refused, ClaimedDelivery& claimed) {
    DeliveryRow& row = claimed.row;
    const Instant now = claimed.claimed_at;
    note_quota(claimed);
    if (const auto parked = step(row.progress, CredentialRefused{refused.cause}))
        row.progress = *parked;
    else if (claimed.found != DeliveryState::parked)
        row.next_attempt_at = std::max(now, refused.probe_at.value_or(now)) + std::chrono::seconds{1};
}

/// Takes the permit, or notes what the row waits for: its place in the window's queue (a write), or a time.
Result<Admission> acquire(Transaction& transaction, Call call, bool was_queued, ClaimedDelivery& claimed) {
    DeliveryRow& row = claimed.row;
    const auto queued_since = was_queued ? std::optional(claimed.free_since) : std::nullopt;
    TRY(auto permit,
        acquire_permit(transaction, claimed.quota, call, queued_since, claimed.claimed_at, *row.lease_until));
    const bool waits_already = claimed.found == DeliveryState::parked || was_queued;
    if (!permit && waits_already && call == Call::write) return Admission::untouched;
    note_quota(claimed);
    if (!permit) {
        row.next_attempt_at = call == Call::write ? std::nullopt : std::optional(permit.error().until);
        return Admission::put_off;
    }
    claimed.permit = std::move(*permit);
    if (was_queued && call == Call::write) claimed.overdue = claimed.permit.unattended;
    if (!row.next_attempt_at) row.next_attempt_at = claimed.claimed_at;
    return Admission::granted;
}

/// The delivery tries the refused credentials for all others; the next try comes later.
Result<void> note_tries(Transaction& transaction, RefusedCredentials refused, ClaimedDelivery& claimed) {
    for (auto& [name, state] : refused) {
        state.probe_at = claimed.claimed_at + probe_every;
        TRY_VOID(transaction.credentials().update(name, state));
        claimed.tries.push_back(name);
    }
    return {};
}

}  // namespace

Result<Admission> admit(Transaction& transaction, ClaimedDelivery& claimed) {
    DeliveryRow& row = claimed.row;
    const Instant now = claimed.claimed_at;
    claimed.quota = claimed.sink->quota(claimed.target);
    const std::string own = claimed.quota.credential;
    const bool was_parked = claimed.found == DeliveryState::parked;
    const bool was_queued = !was_parked && !row.next_attempt_at && row.rate_window == claimed.quota.window;
    if (own.empty()) return was_parked ? Admission::untouched : Admission::granted;

    TRY(RefusedCredentials refused, refused_of(transaction, claimed));
    const std::string before = credential_before(claimed);
    if (was_parked && (!refused.contains(before) || !may_try(refused, before, now)))
        return Admission::untouched;
    const bool looks = next_action(row.progress) == NextAction::look;
    if (refused.contains(own) && (looks || !may_try(refused, own, now))) {
        wait_for_credential(refused.at(own), claimed);
        return Admission::put_off;
    }

    if (was_parked) row.progress = step(row.progress, CredentialTried{}).value_or(row.progress);
    TRY(const Admission admission,
        acquire(transaction, looks ? Call::read : Call::write, was_queued, claimed));
    if (admission != Admission::granted) return admission;
    TRY_VOID(note_tries(transaction, std::move(refused), claimed));
    return Admission::granted;
}

}  // namespace epilogue
