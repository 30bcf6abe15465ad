#include "worker/mysql/mysql_transaction.h"

#include <utility>

#include "worker/mysql/columns.h"

namespace epilogue {

Result<Instant> MysqlTransaction::now() {
    if (now_) return *std::exchange(now_, std::nullopt);
    TRY(const auto rows, session_.query("SELECT UTC_TIMESTAMP(6)"));
    Columns columns(rows.at(0));
    return columns.instant().value_or(Instant{});
}

}  // namespace epilogue
