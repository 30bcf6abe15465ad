#include "worker/deliver/admission.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "worker/deliver/breakers.h"
#include "worker/deliver/credentials.h"
#include "worker/store/credential_rows.h"

namespace epilogue {
namespace {

using Credentials = std::map<std::string, CredentialRow>;

/// The credential that the row waited for; it may no longer be the configured one.
std::string credential_before(const ClaimedDelivery& claimed) {
    return claimed.row.credential.empty() ? claimed.quota.credential : claimed.row.credential;
}

/// The rows of the delivery's credentials, present and former.
Result<Credentials> credentials_of(Transaction& transaction, const ClaimedDelivery& claimed) {
    Credentials rows;
    for (const std::string& name : std::set{claimed.quota.credential, credential_before(claimed)}) {
        TRY(rows[name], credential_state(transaction, name));
    }
    return rows;
}

/// Whether the credential works, or may be tried whether it does.
bool may_try(const CredentialRow& credential, Instant now) {
    return !credential.parked_since || credential.probe_at.value_or(now) <= now;
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

struct Wanted {
    Call call = Call::write;
    bool was_queued = false;  ///< for its rate window
    Passage passage = Passage::pass;
};

/// Takes the permit, or notes what the row waits for: its place in the window's queue (a write), or a time.
Result<Admission> acquire(Transaction& transaction, const Wanted& wanted, const SenderClock& clock,
                          ClaimedDelivery& claimed) {
    DeliveryRow& row = claimed.row;
    const bool is_write = wanted.call == Call::write;
    // A probe waits behind none of those that it goes for.
    const bool has_place = is_write && (wanted.was_queued || wanted.passage == Passage::probe);
    const auto queued_since = has_place ? std::optional(claimed.free_since) : std::nullopt;
    TRY(auto permit, acquire_permit(transaction, claimed.quota, wanted.call, queued_since, claimed.claimed_at,
                                    *row.lease_until));
    const bool waits_already = claimed.found == DeliveryState::parked || wanted.was_queued;
    if (!permit && waits_already && is_write) return Admission::untouched;
    note_quota(claimed);
    if (!permit) {
        row.next_attempt_at = is_write ? std::nullopt : std::optional(drawn(permit.error(), clock));
        return Admission::put_off;
    }
    claimed.permit = std::move(*permit);
    if (wanted.was_queued && is_write) claimed.overdue = claimed.permit.unattended;
    if (!row.next_attempt_at) row.next_attempt_at = claimed.claimed_at;
    return Admission::granted;
}

/// The delivery goes: it tries the refused credentials for all others, and those try again later. Nothing is
/// asked with a former credential any more, so what was known of its platform is forgotten.
Result<void> note_tries(Transaction& transaction, const Credentials& before, const Wanted& wanted,
                        ClaimedDelivery& claimed) {
    for (auto [name, row] : before) {
        const bool is_own = name == claimed.quota.credential;
        if (row.parked_since) {
            row.probe_at = claimed.claimed_at + probe_every;
            claimed.tries.push_back(name);
        }
        if (is_own && wanted.passage == Passage::probe)
            breaker_of(row, wanted.call).begin_probe(claimed.claimed_at);
        if (!is_own && (row.posts.is_open() || row.look_ups.is_open())) {
            row.posts = {};
            row.look_ups = {};
        }
        if (row != before.at(name)) TRY_VOID(transaction.credentials().update(name, row));
        if (is_own) claimed.credential = row;
    }
    return {};
}

}  // namespace

Instant drawn(const NotYet& not_yet, const SenderClock& clock) {
    if (not_yet.spread.count() == 0) return not_yet.until;
    const auto spread = static_cast<double>(std::chrono::duration_cast<Micros>(not_yet.spread).count());
    return not_yet.until + Micros(static_cast<Micros::rep>(clock.random01() * spread));
}

Result<Admission> admit(Transaction& transaction, ClaimedDelivery& claimed, const SenderClock& clock) {
    DeliveryRow& row = claimed.row;
    const Instant now = claimed.claimed_at;
    claimed.quota = claimed.sink->quota(claimed.target);
    const std::string own = claimed.quota.credential;
    const bool was_parked = claimed.found == DeliveryState::parked;
    if (own.empty()) return was_parked ? Admission::untouched : Admission::granted;

    Wanted wanted;
    wanted.was_queued = !was_parked && !row.next_attempt_at && row.rate_window == claimed.quota.window;
    TRY(const Credentials credentials, credentials_of(transaction, claimed));
    const CredentialRow& waited_for = credentials.at(credential_before(claimed));
    if (was_parked && (!waited_for.parked_since || !may_try(waited_for, now))) return Admission::untouched;
    const CredentialRow& credential = credentials.at(own);
    const bool looks = next_action(row.progress) == NextAction::look;
    if (credential.parked_since && (looks || !may_try(credential, now))) {
        wait_for_credential(credential, claimed);
        return Admission::put_off;
    }

    wanted.call = looks ? Call::read : Call::write;
    wanted.passage = passage_of(credential, wanted.call, now, looks || wanted.was_queued);
    if (wanted.passage == Passage::wait) {
        if (was_parked) return Admission::untouched;
        TRY(const bool is_held, hold(transaction, wanted.call, claimed));
        return is_held ? Admission::put_off : Admission::untouched;
    }
    if (was_parked) row.progress = step(row.progress, CredentialTried{}).value_or(row.progress);
    TRY(const Admission admission, acquire(transaction, wanted, clock, claimed));
    if (admission != Admission::granted) return admission;
    TRY_VOID(note_tries(transaction, credentials, wanted, claimed));
    return Admission::granted;
}

}  // namespace epilogue
