#include "worker/apply/own_partition.h"

#include "base/io/kafka.h"
#include "worker/store/conversation_rows.h"

namespace epilogue {

Result<OwnPartition> own_partition_of(Transaction& transaction, const ConversationId& id,
                                      const std::string& topic, const std::string& group) {
    OwnPartition own;
    TRY(const auto noted, transaction.conversations().partition_of(id));
    own.is_guess = !noted;
    own.id = noted.value_or(0);
    if (own.is_guess) {
        TRY(const int known, transaction.partitions().known_count(topic));
        if (known > 0) own.id = partition_of_key(id, known);
    }
    TRY(auto row, transaction.partitions().read({group, topic, own.id}));
    if (row) own.row = std::move(*row);
    return own;
}

}  // namespace epilogue
