// An operator's verdict on a delivery that is UNKNOWN or PARKED: `deliveries retry|resolve`.
#pragma once

#include <string>

#include "base/ids.h"
#include "worker/store/store.h"

namespace epilogue {

enum class OperatorAction { retry, sent, not_sent };
enum class OperatorAnswer { done, no_such_delivery, not_now };

/// Applies an operator's verdict; `url` says where the post is, for `sent`. not_now: the delivery's state
/// does not allow it, or a sender works at it. Errors: the database's.
Result<OperatorAnswer> resolve_delivery(Store& store, const DeliveryId& delivery_id, OperatorAction action,
                                        const std::string& url);

}  // namespace epilogue
