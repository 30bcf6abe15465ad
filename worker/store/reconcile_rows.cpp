#include "worker/store/reconcile_rows.h"

namespace epilogue {

std::string_view name_of(ReconcileReason reason) {
    return reason == ReconcileReason::inactivity ? "silence" : "registered";
}

}  // namespace epilogue
