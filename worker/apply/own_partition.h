// The partition of a conversation, for those who change it and do not own that partition.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "worker/store/partition_rows.h"
#include "worker/store/transaction.h"

namespace epilogue {

struct OwnPartition {
    int id = 0;
    bool is_guess = false;  ///< no record of the conversation was read: it is where our producers put it
    PartitionRow row;       ///< as it was last committed
};

/// Inside a transaction. Errors: the database's.
Result<OwnPartition> own_partition_of(Transaction& transaction, const ConversationId& id,
                                      const std::string& topic, const std::string& group);

}  // namespace epilogue
