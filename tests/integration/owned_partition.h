// One partition whose owner is the test: records go in by hand, in this process, over a real database.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/integration/migrated_database.h"
#include "tests/support/conversation_scripts.h"
#include "tests/support/expect.h"
#include "tests/support/kafka_records.h"
#include "worker/apply/adoption.h"
#include "worker/apply/batch.h"
#include "worker/apply/registration.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue::testing {

/// A database of its own, migrated, with one claimed partition. What a method does to the database it does
/// through the given store, so that a test can act in between. Thread-safe as the stores are, as long as
/// one thread at a time moves the partition. Errors are std::runtime_error.
class OwnedPartition {
  public:
    OwnedPartition(const Database& server, const std::string& database);

    Store& store() { return store_; }

    /// The next records of the partition, as one batch.
    Result<BatchReport> apply(Store& store, const std::vector<Record>& records);
    /// Lets the partition's clock come to the database's time.
    Result<BatchReport> tick(Store& store);

    /// A row that another program writes, by plain SQL on a session of its own: reports one turn to a place
    /// of its own. `created_at`: an SQL expression. Returns its id.
    std::int64_t insert_row(const std::string& conversation,
                            const std::string& created_at = "UTC_TIMESTAMP(6)");
    /// Adopts what others wrote.
    void adopt(Store& store);
    /// What does so, for looks one after the other. Both have to outlive it.
    Adopter adopter(Store& store) const {
        return {store, planner_, {installation_.created_at}, [] {}};
    }
    /// Wakes a callback that was adopted dormant.
    void wake(Store& store, std::int64_t callback);
    /// The same by our own registration; it reports every turn.
    std::int64_t add(Store& store, const std::string& conversation);
    /// The same, to a place that the test names.
    std::int64_t add(Store& store, const std::string& conversation, const std::string& processor,
                     const std::string& processor_json);
    /// The same, with all that a request says.
    std::int64_t add(Store& store, const RegistrationRequest& request);
    /// Goes on where the partition's row stands, after another session has moved it.
    void resume();

    /// The turns that the callback owes or has posted, in their order.
    std::vector<std::string> turns_of(std::int64_t callback) const;
    std::vector<Row> query(const std::string& sql) const { return database_.query(sql); }
    std::int64_t number(const std::string& sql) const { return database_.number(sql); }
    /// How many transactions were undone for this cause (worker/mysql/mysql_store.h).
    int undone(const std::string& cause) const;
    /// A session that is not the store's.
    std::unique_ptr<MysqlSession> open_session() const;
    /// How many sessions wait for a lock of another, on the whole server.
    std::int64_t waiting() const;

  private:
    StoreObserver observer();
    std::string place();

    const Database& server_;
    const MigratedDatabase database_;
    mutable std::mutex mutex_;
    std::map<std::string, int> undone_;
    MysqlStore store_;
    const Installation installation_;
    const Planner planner_;
    Claim claim_;
    std::atomic<int> places_ = 0;
};

}  // namespace epilogue::testing
