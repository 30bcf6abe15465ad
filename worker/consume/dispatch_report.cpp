#include "worker/consume/dispatch_report.h"

namespace epilogue {

void dispatch_report(const BatchReport& report, Metrics& metrics, Outbox& outbox) {
    for (const Verdict verdict : report.counted) metrics.transition(name_of(verdict));
    for (const std::string& source : report.summaries) metrics.summary(source, "made");
    if (report.known > 0) metrics.suppressed("ledger", static_cast<double>(report.known));
    for (const auto& planned : report.planned) {
        metrics.delivery_entered(planned.row.sink, name_of(DeliveryState::planned));
        outbox.add_planned(planned.row, planned.waits);
    }
}

}  // namespace epilogue
