// A delivery that is final changes its callback, in the same transaction.
#pragma once

#include "worker/store/delivery_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// SENT may complete the delivery's callback, FAILED puts it in error; any other state changes nothing.
/// Errors: the database's.
Result<void> complete_callback(Transaction& transaction, const DeliveryRow& delivery);

}  // namespace epilogue
