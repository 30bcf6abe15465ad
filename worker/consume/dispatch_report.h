// Passes on what follows from a durable transaction of records or timers: numbers and posts.
#pragma once

#include "worker/apply/batch.h"
#include "worker/deliver/outbox.h"
#include "worker/observe/metrics.h"

namespace epilogue {

/// Counts the turns, summaries and deliveries of the report, and adds its new deliveries to the senders'
/// outbox (those that wait for a summary are added later, by the summarisers).
void dispatch_report(const BatchReport& report, Metrics& metrics, Outbox& outbox);

}  // namespace epilogue
