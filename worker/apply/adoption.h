// Rows of conversation_callbacks that other programs wrote become ours within seconds (contract §4
// "Registration and adoption"). Any worker may adopt; each row is adopted once.
//
// However many rows there are, a look reads the newest ones: all that came in the last minutes, since a
// transaction may become visible after one that has later ids. What came later still is found by a pass over
// the whole table, at the start and each hour.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/ids.h"
#include "worker/apply/registration.h"

namespace epilogue {

struct AdoptionRules {
    Instant installed_at;
    std::chrono::seconds max_age{86400};  ///< a row that was older when we were installed is adopted DORMANT
    WatchRules watch = {};
};

/// Used by one thread.
class Adopter {
  public:
    Adopter(Store& store, const Planner& planner, AdoptionRules rules, std::function<void()> adopted)
        : store_(store), planner_(planner), rules_(rules), adopted_(std::move(adopted)) {}

    /// Adopts every two seconds until `stop`.
    void run(const std::stop_token& stop);
    /// Adopts rows that are not adopted yet, those of the whole table the first time; returns how many.
    /// Errors: the database's.
    Result<std::size_t> adopt_all();

  private:
    struct Look {
        CallbackId until;      ///< all rows up to this one were looked at
        bool is_last = false;  ///< there is none behind it
        std::size_t adopted = 0;
        Instant at;  ///< by the database's clock
    };
    /// Looks at some rows behind `after`, and adopts what it finds.
    Result<Look> look(CallbackId after);
    /// Moves on what need not be looked at any more.
    void settle(const Look& newest);
    /// Those that are not adopted yet, in one transaction; returns how many.
    Result<std::size_t> adopt(const std::vector<CallbackId>& ids);
    /// Locks their conversations, in the order of all transactions.
    static Result<void> lock_conversations(Transaction& transaction, const std::vector<CallbackId>& ids);
    /// False: another worker has adopted it.
    Result<bool> adopt(Transaction& transaction, CallbackId id) const;

    Store& store_;
    const Planner& planner_;
    const AdoptionRules rules_;
    const std::function<void()> adopted_;
    CallbackId settled_;  ///< rows up to this one are left to the next pass
    struct Mark {
        CallbackId id;
        Instant at;
    };
    std::optional<Mark> newest_;         ///< the newest row some time ago
    std::optional<CallbackId> passing_;  ///< where the pass that is under way goes on
    std::optional<Instant> passed_at_;   ///< when the last one was over
};

}  // namespace epilogue
