// A row that was taken over, and that OpenHands has changed since.
#pragma once

#include <string_view>

#include "ops/importer/upstream_row.h"
#include "worker/store/imported_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

/// What became of the callback.
enum class ChangeOutcome {
    cancelled,  ///< OpenHands has done with the row, and we have posted nothing
    replaced,   ///< it posts to where the row says now
    kept,       ///< it has a post under way or behind it, or was cancelled: it stays as it is
};
std::string_view name_of(ChangeOutcome outcome);
/// For people: what was changed, and what became of the callback.
std::string_view sentence_of(ChangeOutcome outcome);

/// Brings the callback of `row` into line with what `reading` says of the row now, and remembers `row`.
/// `reading` is not Unreadable. Errors: the database's.
Result<ChangeOutcome> follow_change(Transaction& transaction, const UpstreamTable& table,
                                    const ImportedRow& row, const Reading& reading);

}  // namespace epilogue
