// What a transaction of the log's has changed, told once it is durable.
#pragma once

#include "worker/batch.h"
#include "worker/metrics.h"
#include "worker/outbox.h"

namespace epilogue {

/// Counts the turns, summaries and deliveries of the report, and hands its new deliveries to the senders.
void hand_on(const BatchReport& report, Metrics& metrics, Outbox& outbox);

}  // namespace epilogue
