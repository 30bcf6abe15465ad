#include "worker/deliver/credentials.h"

#include "worker/core/delivery.h"
#include "worker/deliver/permits.h"
#include "worker/store/credential_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t rows_at_once = 500;
constexpr int chunks_a_sweep = 20;

/// Changes a credential's row, and deliveries under its lock. Making the change twice must do no harm.
Result<void> change(Store& store, const std::string& credential,
                    const std::function<Result<void>(Transaction&, CredentialRow&)>& work) {
    return store.transact_idempotent([&](Transaction& transaction) -> Result<void> {
        CredentialRows& rows = transaction.credentials();
        TRY(const CredentialRow before, rows.lock(credential));
        CredentialRow row = before;
        TRY_VOID(work(transaction, row));
        return row == before ? Result<void>() : rows.update(credential, row);
    });
}

}  // namespace

Result<CredentialRow> credential_state(Transaction& transaction, const std::string& credential) {
    TRY(const CredentialRow row, transaction.credentials().read(credential));
    // Locked, so that it is not released between this read and what follows from it.
    const bool is_held_up = row.parked_since || row.posts.is_open() || row.look_ups.is_open();
    return is_held_up ? transaction.credentials().lock(credential) : Result<CredentialRow>(row);
}

Result<void> credential_refused(Transaction& transaction, const std::string& credential,
                                const std::string& cause, Instant now) {
    TRY(CredentialRow row, transaction.credentials().lock(credential));
    row.unsettled = row.unsettled || !row.parked_since;
    if (!row.parked_since) row.parked_since = now;
    row.cause = cause;
    row.probe_at = now + probe_every;
    return transaction.credentials().update(credential, row);
}

Result<void> credential_works(Transaction& transaction, const std::string& credential) {
    TRY(CredentialRow row, transaction.credentials().lock(credential));
    if (!row.parked_since) return {};
    row.parked_since.reset();
    row.probe_at.reset();
    row.unsettled = true;
    return transaction.credentials().update(credential, row);
}

Result<void> probe_now(Transaction& transaction, const std::string& credential, Instant now) {
    TRY(CredentialRow row, credential_state(transaction, credential));
    if (!row.parked_since) return {};
    row.probe_at = now;
    return transaction.credentials().update(credential, row);
}

Result<void> settle_credential(Store& store, const std::string& credential,
                               const std::function<void(DeliveryState, std::int64_t)>& entered) {
    bool over = false;
    for (int chunk = 0; chunk < chunks_a_sweep && !over; ++chunk) {
        DeliveryState state{};
        ParkedBatch moved;
        TRY_VOID(change(store, credential, [&](Transaction& transaction, CredentialRow& row) -> Result<void> {
            CredentialRows& rows = transaction.credentials();
            moved = {0, true, {}};
            if (!row.unsettled) return {};
            state = row.parked_since ? DeliveryState::parked : DeliveryState::retry;
            TRY(moved, row.parked_since ? rows.park(credential, row.cause, rows_at_once)
                                        : rows.release(credential, rows_at_once));
            row.unsettled = !moved.all;
            TRY(const Instant now, transaction.now());
            if (state == DeliveryState::retry)
                for (const std::string& window : moved.windows)
                    TRY_VOID(open_queue(transaction, window, now));
            return {};
        }));
        if (moved.count > 0) entered(state, moved.count);
        over = moved.all || moved.count == 0;  // rows that are locked elsewhere come with the next sweep
    }
    return {};
}

Result<void> forget_parked(Store& store, const std::string& credential) {
    return change(store, credential, [&](Transaction& transaction, CredentialRow& row) -> Result<void> {
        TRY(const auto parked, transaction.credentials().oldest_parked(credential));
        if (parked) return {};
        row.parked_since.reset();
        row.probe_at.reset();
        return {};
    });
}

}  // namespace epilogue
