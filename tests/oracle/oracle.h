// The judge: compares what the platforms show, what the ledger did and what the log owes. It knows the
// contract and nothing of the product's code; its inputs are plain values, so that it judges the simulation
// (tests/sim) and runs of real processes (tests/chaos) alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue::testing {

/// A turn that a callback has to report, once.
struct OwedPost {
    std::int64_t callback_id = 0;
    std::string conversation_id;
    std::string place;  ///< where it has to be seen
    std::string turn_key;
    std::string delivery_id;  ///< by the contract's formula
    std::string headline;     ///< what its first line starts with
    std::string words;        ///< what it has to hold; empty: nothing of the kind
    bool optional = false;    ///< may be missing: the platform refused its callback for good
};

/// A post as the platform has it at the end.
struct SeenPost {
    std::string place;
    std::string delivery_id;  ///< of its marker
    std::string body;
    bool deleted_by_user = false;
    bool removed_by_us = false;
    bool look_up_forbidden = false;  ///< once: what cannot be looked for cannot be healed (sinks.md, W12)
};

struct PositionWrite {
    int partition = 0;
    std::int64_t position_before = 0;
    std::int64_t position_after = 0;
    std::int64_t generation_before = 0;
    std::int64_t generation_after = 0;
    std::string_view owner_before;
    std::string_view owner_after;
};

struct DeliveryWrite {
    std::string_view delivery_id;
    std::int64_t generation_before = 0;
    std::int64_t generation_after = 0;
    std::string_view state_before;
    std::string_view state_after;
    std::string_view owner_before;
    std::string_view owner_after;
    bool leased_before = false;  ///< the lease was in force when it was written
    int attempts_before = 0;     ///< requests whose intent was durable
    int attempts_after = 0;
};

struct StatusWrite {
    std::int64_t callback_id = 0;
    std::string_view before;  ///< ACTIVE | COMPLETED | ERROR
    std::string_view after;
    bool last_report_sent = false;  ///< the delivery of its last reported turn is SENT
    bool cancelled = false;
};

class Oracle {
  public:
    // Watched all the time.
    void wrote(const PositionWrite& write);
    void wrote(const DeliveryWrite& write);
    void wrote(const StatusWrite& write);
    /// A look-up on the platform that could look, and saw nothing.
    void saw_nothing_of(const std::string& delivery_id, std::chrono::microseconds at);
    /// The broker took a committed offset while the database holds `stored`.
    void offset_committed(int partition, std::int64_t committed, std::int64_t stored);

    /// At the end.
    void judge(const std::vector<OwedPost>& owed, const std::vector<SeenPost>& seen);
    /// Something else that must not be.
    void complain(std::string what);

    const std::vector<std::string>& violations() const { return violations_; }

  private:
    bool looked_enough(const std::string& delivery_id) const;

    std::map<std::string, std::vector<std::chrono::microseconds>> empty_looks_;  ///< since the last intent
    std::map<int, std::int64_t> committed_;
    std::vector<std::string> violations_;
};

}  // namespace epilogue::testing
