// Rows of conversation_callbacks that other programs wrote become ours within seconds (contract §4
// "Registration and adoption"). Any worker may adopt; each row is adopted once.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
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
    /// Adopts all rows that are not adopted yet; returns how many. Errors: the database's.
    Result<std::size_t> adopt_all();

  private:
    /// Those that are not adopted yet, in one transaction; returns how many.
    Result<std::size_t> adopt(const std::vector<CallbackId>& ids);
    /// Locks their conversations, in the order in which everybody does.
    static Result<void> lock_conversations(Transaction& transaction, const std::vector<CallbackId>& ids);
    /// False: another worker has adopted it.
    Result<bool> adopt(Transaction& transaction, CallbackId id) const;

    Store& store_;
    const Planner& planner_;
    const AdoptionRules rules_;
    const std::function<void()> adopted_;
};

}  // namespace epilogue
