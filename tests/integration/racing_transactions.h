// What the suites over an OwnedPartition let race: transactions that end a conversation's turn, and those
// that bring a callback.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/integration/owned_partition.h"
#include "tests/integration/point_store.h"

namespace epilogue::testing {

using Turns = std::vector<std::string>;

/// A transaction that ends the turn u1 of a conversation.
struct EndingTransaction {
    std::string name;
    std::function<void(OwnedPartition&, V1Conversation&)> prepare;  ///< opens it, as far as it must be before
    std::function<Result<void>(OwnedPartition&, Store&, V1Conversation&)> run;
    bool goes_on = false;  ///< u2 is opened in the same transaction

    /// A batch; it makes a dead letter too.
    static EndingTransaction by_a_batch();
    /// A batch that goes on.
    static EndingTransaction by_a_longer_batch();
    /// The partition's timers.
    static EndingTransaction by_timers();
    static std::vector<EndingTransaction> all() { return {by_a_batch(), by_a_longer_batch(), by_timers()}; }
};

/// A transaction that brings a callback.
struct CallbackTransaction {
    std::string name;
    /// What must be there before; `run` takes what it returns.
    std::function<std::int64_t(OwnedPartition&, const std::string& conversation)> prepare;
    /// Returns the callback.
    std::function<std::int64_t(OwnedPartition&, Store&, const std::string& conversation, std::int64_t)> run;
    bool every_turn = false;  ///< it reports each, else the first one

    /// Of a row that another program has written.
    static CallbackTransaction adoption();
    /// Of a row that was adopted dormant.
    static CallbackTransaction waking();
    /// Our own.
    static CallbackTransaction registration();
    static std::vector<CallbackTransaction> all() { return {adoption(), waking(), registration()}; }
};

/// A conversation whose turn u1 can be ended, and a callback that was there from the beginning and reports
/// every turn.
struct RacedConversation {
    V1Conversation conversation;
    std::int64_t witness = 0;
};

/// A new one, prepared for `ending`.
RacedConversation next_conversation(OwnedPartition& partition, const EndingTransaction& ending);

/// Ends the turn u2, after opening it where it is not open.
void run_the_next_turn(OwnedPartition& partition, RacedConversation& raced, bool is_open);

/// Runs a transaction and returns its points in the order in which they are first come to; prints them under
/// `name`.
std::vector<std::string> points_of(const std::string& name, OwnedPartition& partition,
                                   const std::function<void(Store&)>& transaction);

}  // namespace epilogue::testing
