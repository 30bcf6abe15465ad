// What a transaction of the log's has changed, told once it is durable.
#pragma once

#include "worker/apply/batch.h"
#include "worker/deliver/outbox.h"
#include "worker/observe/metrics.h"

namespace epilogue {

/// Counts the turns, summaries and deliveries of the report, and hands its new deliveries to the senders.
void hand_on(const BatchReport& report, Metrics& metrics, Outbox& outbox);

}  // namespace epilogue
