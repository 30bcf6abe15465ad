// What the tables say was reported: read by SQL, not by the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/database.h"
#include "tests/support/kafka_admin.h"

namespace epilogue::testing {

/// One row of `deliveries` with its summary.
struct DeliveredTurn {
    std::string turn_key;
    std::string verdict;
    std::string state;
    std::string body;  ///< as it was frozen for the platform
    std::string headline;
    std::string words;
};

struct CallbackResult {
    std::string status;                     ///< ACTIVE, COMPLETED or ERROR
    std::vector<DeliveredTurn> deliveries;  ///< in the order in which they became owed
};

struct ConversationResult {
    std::string turn_key;  ///< of the open turn, else of the last one that was counted
    std::string verdict;   ///< of the last turn that was counted; empty: none was
};

/// A database as it is at one moment.
struct Ledger {
    std::map<std::int64_t, CallbackResult> callbacks;  ///< by id
    std::map<std::string, ConversationResult> conversations;
    std::size_t summaries = 0;
    std::size_t dead_letters = 0;
};

/// Reads all of it. Errors: as Database::query.
Ledger read_ledger(const Database& server, const std::string& database);

/// All that was ever posted or is owed, and what the callbacks became, a line for each row: for comparing
/// whether anything has changed at all.
std::vector<std::string> posted_lines(const Database& server, const std::string& database);

/// Where the partitions of a topic stand: the next offset to be applied.
PartitionOffsets stored_positions(const Database& server, const std::string& database,
                                  const std::string& topic);

/// True when the topic is applied up to `ends`, no conversation waits for a timer that is due within a
/// minute, and no delivery waits for its turn.
bool is_settled(const Database& server, const std::string& database, const std::string& topic,
                const PartitionOffsets& ends);

}  // namespace epilogue::testing
