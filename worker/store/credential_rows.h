// Rows of credentials that a platform refused at some time, or whose platform failed, and the deliveries that
// wait for them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "worker/core/breaker.h"

namespace epilogue {

struct DueDelivery;

/// A credential that was refused at some time, or whose platform failed.
struct CredentialRow {
    std::optional<Instant> parked_since;  ///< nullopt: it works, as far as is known
    std::string cause;                    ///< why, for people
    std::optional<Instant> probe_at;      ///< while parked: when the next delivery may try it
    bool unsettled = false;               ///< deliveries of it are still to be parked, or released
    Breaker posts;                        ///< whether the platform answers its posts
    Breaker look_ups;                     ///< and its look-ups
    bool operator==(const CredentialRow&) const = default;
};

/// A credential with an open breaker, and whose probe is due.
struct DownCredential {
    std::string name;
    bool post_is_due = false;
    bool look_up_is_due = false;
    bool look_ups_wait = false;  ///< their breaker is open
};

/// Deliveries that were parked or released together.
struct ParkedBatch {
    std::int64_t count = 0;
    bool all = false;               ///< none is left
    std::set<std::string> windows;  ///< theirs
};

/// Not thread-safe; valid as long as its transaction.
class CredentialRows {
  public:
    CredentialRows() = default;
    CredentialRows(const CredentialRows&) = delete;
    CredentialRows& operator=(const CredentialRows&) = delete;
    virtual ~CredentialRows() = default;

    /// As it was last committed; an empty one when there is none.
    virtual Result<CredentialRow> read(const std::string& credential) = 0;
    /// The same, locked, created when missing.
    virtual Result<CredentialRow> lock(const std::string& credential) = 0;
    virtual Result<void> update(const std::string& credential, const CredentialRow& row) = 0;
    virtual Result<std::vector<std::string>> unsettled(std::size_t limit) = 0;
    /// Parked ones whose next try is due.
    virtual Result<std::vector<std::string>> to_probe(std::size_t limit) = 0;
    /// Those with an open breaker.
    virtual Result<std::vector<DownCredential>> down(std::size_t limit) = 0;
    /// Posts of the credential that wait in a queue: those that may be its probe, the oldest or the newest
    /// ones. Look-ups, which wait in `look_queue`, are not among them.
    virtual Result<std::vector<DueDelivery>> held_posts(const std::string& credential,
                                                        const std::string& look_queue, bool newest,
                                                        std::size_t limit) = 0;
    /// The oldest delivery that is parked for its credential.
    virtual Result<std::optional<DueDelivery>> oldest_parked(const std::string& credential) = 0;
    /// Parks for `cause` at most `limit` deliveries of the credential that were to be sent and are not
    /// leased. Those that another transaction has locked are left out.
    virtual Result<ParkedBatch> park(const std::string& credential, const std::string& cause,
                                     std::size_t limit) = 0;
    /// Releases at most `limit` that are parked for the credential into their windows' queues, so that no
    /// other delivery waits behind all of them; as park().
    virtual Result<ParkedBatch> release(const std::string& credential, std::size_t limit) = 0;
};

}  // namespace epilogue
