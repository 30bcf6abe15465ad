// What the suites over an OwnedPartition play: conversations whose turn ends in one transaction, callbacks
// that come in another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/integration/owned_partition.h"
#include "tests/integration/point_store.h"

namespace epilogue::testing {

using Turns = std::vector<std::string>;

/// A transaction that ends the turn u1 of a conversation.
struct Ending {
    std::string name;
    std::function<void(OwnedPartition&, Talk&)> prepare;  ///< opens it, as far as it must be before
    std::function<Result<void>(OwnedPartition&, Store&, Talk&)> run;
    bool goes_on = false;  ///< u2 is opened in the same transaction

    /// A batch; it makes a dead letter too.
    static Ending by_a_batch();
    /// A batch that goes on.
    static Ending by_a_longer_batch();
    /// The partition's timers.
    static Ending by_timers();
    static std::vector<Ending> all() { return {by_a_batch(), by_a_longer_batch(), by_timers()}; }
};

/// A transaction that brings a callback.
struct Coming {
    std::string name;
    /// What must be there before; `run` takes what it returns.
    std::function<std::int64_t(OwnedPartition&, const std::string& conversation)> prepare;
    /// Returns the callback.
    std::function<std::int64_t(OwnedPartition&, Store&, const std::string& conversation, std::int64_t)> run;
    bool every_turn = false;  ///< it reports each, else the first one

    /// Of a row that somebody else has written.
    static Coming adoption();
    /// Of a row that was adopted dormant.
    static Coming waking();
    /// Our own.
    static Coming registration();
    static std::vector<Coming> all() { return {adoption(), waking(), registration()}; }
};

/// A conversation whose turn u1 can be ended, and a callback that was there from the beginning and reports
/// every turn.
struct Scene {
    Talk talk;
    std::int64_t witness = 0;
};

/// A new one, prepared for `ending`.
Scene next_scene(OwnedPartition& partition, const Ending& ending);

/// Ends the turn u2, after opening it where it is not open.
void tell_the_next_turn(OwnedPartition& partition, Scene& scene, bool is_open);

/// Runs a transaction and returns its points in the order in which they are first come to; prints them under
/// `name`.
std::vector<std::string> points_of(const std::string& name, OwnedPartition& partition,
                                   const std::function<void(Store&)>& transaction);

}  // namespace epilogue::testing
