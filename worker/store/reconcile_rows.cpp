#include "worker/store/reconcile_rows.h"

#include "base/enum_names.h"

namespace epilogue {
namespace {

constexpr EnumNames<ReconcileReason, 3> reason_names{{"registered", "silence", "gap"}};
static_assert(reason_names.ends_with(ReconcileReason::gap));

}  // namespace

std::string_view name_of(ReconcileReason reason) {
    return reason_names.of(reason);
}

std::optional<ReconcileReason> reconcile_reason_named(std::string_view name) {
    return reason_names.named(name);
}

}  // namespace epilogue
