// Many posts at once on their way through one of the windows in which something can go wrong: the product's
// own batch, store, sender and sinks over a real database and a platform of the test's own. Time does not
// pass by itself: pass() makes all rows and hidden posts so much older.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ops/fake_platform/fake_platform_server.h"
#include "tests/integration/guarantees/place.h"
#include "tests/integration/owned_partition.h"
#include "worker/deliver/sender.h"

namespace epilogue::testing {

/// How far a sender comes before it dies.
enum class Death {
    after_claim,    ///< it has the lease
    after_intent,   ///< the intent is durable, no byte has left
    before_record,  ///< the platform has answered
};

/// One post, and what is known of it from outside.
struct Run {
    Place place;
    std::string conversation;
    DeliveryId delivery;  ///< empty until it is planned
};

/// What became of one run, counted from the platform's log and from what it shows.
struct Score {
    std::size_t tried = 0;    ///< requests that could make a post
    std::size_t made = 0;     ///< posts that they made
    std::size_t looks = 0;    ///< lists read before it was settled
    std::size_t removed = 0;  ///< posts that Epilogue has removed
    std::size_t most = 0;     ///< visible at the same time
    std::size_t visible = 0;  ///< in the end
    bool parked = false;      ///< it waits for an operator
    bool by_people = false;   ///< a person has removed one
};

/// Not thread-safe. Errors are std::runtime_error.
class WindowTrial {
  public:
    /// `runs` posts for each of `kinds_played` are owed as soon as their turns end.
    WindowTrial(const Database& server, const std::string& database, std::size_t runs,
                const std::vector<PlaceKind>& kinds_tried = {kinds.begin(), kinds.end()});

    FakePlatformServer& platform() { return platform_; }
    OwnedPartition& partition() { return partition_; }
    const std::vector<Run>& runs() const { return runs_; }
    std::vector<Row> query(const std::string& sql) const { return partition_.query(sql); }

    /// The records that end the turns, in one batch. Told again, they have the times of the first time.
    Result<BatchReport> end_turns(Store& store);
    /// The same; the posts are owed then.
    void plan();
    /// All records from the first on, read by a worker that knows nothing of them but the ledger.
    void read_again();
    /// Lets all that waits wait so much less.
    void pass(std::chrono::seconds time);

    /// Each post as far as it comes now. `impatient`: requests end after two seconds.
    void deliver(bool impatient = false);
    /// Senders that die on the way.
    void deliver_until(Death death);
    /// Senders that are paused after their last look at the lease. Returns when all of them are.
    class Paused;
    std::unique_ptr<Paused> pause();
    /// Until no post waits for anything but an operator.
    void settle();
    /// The check for duplicates, a minute later.
    void heal();
    /// What a person does to a post.
    void remove_by_hand(std::int64_t comment);

    /// All tables as they are now, kept; and put back.
    void save() const;
    void restore();

    /// What the ledger says was made: platform and id.
    std::set<std::string> remote_ids() const;
    /// In the order of runs().
    std::vector<Score> scores() const;

  private:
    static constexpr std::chrono::seconds patience{20};
    using Act = std::function<void(const Run&)>;
    void for_each(const Act& act, std::size_t at_once = 4) const;
    Sender sender(Store& store, std::chrono::milliseconds http_timeout = patience,
                  SenderClock clock = system_sender_clock()) const;
    std::vector<std::string> tables() const;

    const std::string kept_;  ///< the database that save() makes
    FakePlatformServer platform_;
    OwnedPartition partition_;
    const SinksInUse sinks_;
    std::vector<Run> runs_;
    std::vector<Record> beginnings_;
    std::vector<Record> endings_;
    std::optional<Instant> ended_at_;
    std::map<std::int64_t, std::size_t> removed_by_hand_;  ///< comment -> requests seen before
    std::size_t settled_at_ = 0;                           ///< requests seen when nothing waited any more
};

/// Senders between their last look at the lease and the request.
class WindowTrial::Paused {
  public:
    explicit Paused(WindowTrial& trial);
    ~Paused();
    Paused(const Paused&) = delete;
    Paused& operator=(const Paused&) = delete;

    /// Lets all of them go on, to their end.
    void go_on();

  private:
    struct Barrier;
    std::shared_ptr<Barrier> barrier_;
    std::vector<std::future<void>> senders_;
};

}  // namespace epilogue::testing
