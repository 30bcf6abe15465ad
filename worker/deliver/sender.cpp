#include "worker/deliver/sender.h"

#include "base/io/log.h"
#include "base/under_way.h"
#include "sinks/port/quota.h"
#include "worker/deliver/credentials.h"
#include "worker/store/fence.h"
#include "worker/store/leased_rows.h"

namespace epilogue {

Result<bool> Sender::deliver(const DeliveryId& delivery_id) const {
    return attempt(delivery_id, Purpose::post);
}

Result<bool> Sender::probe(const DeliveryId& delivery_id) const {
    return attempt(delivery_id, Purpose::probe);
}

Result<bool> Sender::attempt(const DeliveryId& delivery_id, Purpose purpose) const {
    const WorkingAt note(leased_delivery, delivery_id);
    ClaimedDelivery claimed;
    TRY_VOID(claimer_.claim(delivery_id, purpose, claimed));
    if (claimed.admission == Admission::untouched) return false;
    if (!claimed.froze.empty()) observer_.froze(claimed.froze);
    if (claimed.row.progress.state != claimed.found) {
        observer_.entered(claimed.row.sink, claimed.row.progress.state, 1);
        observer_.changed(claimed.row);
    }
    if (claimed.admission == Admission::put_off) return true;
    const auto worked = protocol_.run(claimed);
    if (!worked && is_fenced(worked.error())) {
        observer_.fenced();
        TRY_VOID(duplicates_.request_check(claimed));
    } else if (!worked) {
        return Failure(worked.error());
    }
    return true;
}

Result<bool> Sender::remove_duplicates(const DeliveryId& delivery_id) const {
    const WorkingAt note(leased_delivery, delivery_id);
    ClaimedDelivery claimed;
    TRY_VOID(claimer_.claim(delivery_id, Purpose::dedup, claimed));
    if (claimed.admission == Admission::put_off && !claimed.sink)
        log_warn("a post cannot be checked for twins",
                 {{"delivery", delivery_id}, {"why", claimed.obstacle}});
    if (claimed.admission != Admission::granted) return false;
    TRY_VOID(duplicates_.check(claimed));
    return true;
}

Result<void> Sender::settle(const std::string& credential) const {
    const std::string sink = platform_of(credential);
    return settle_credential(store_, credential, [&](DeliveryState state, std::int64_t rows) {
        observer_.entered(sink, state, rows);
        observer_.settled(credential, state, rows);
    });
}

}  // namespace epilogue
