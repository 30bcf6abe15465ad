// The rows of pacing: rate windows, the lines that wait for them, credentials that were refused. A part of
// the port to the database (store.h), of use inside the same transactions.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "worker/core/rate_window.h"

namespace epilogue {

struct DeliveryRow;

/// A credential that was refused at some time.
struct CredentialRow {
    std::optional<Instant> parked_since;  ///< nullopt: it works, or nobody knows better
    std::string cause;                    ///< why, for people
    std::optional<Instant> probe_at;      ///< while parked: when the next delivery may try it
    bool unsettled = false;               ///< deliveries of it are still to be parked, or let go
    bool operator==(const CredentialRow&) const = default;
};

/// Deliveries that were moved together.
struct Moved {
    std::int64_t count = 0;
    bool all = false;               ///< none is left to be moved
    std::set<std::string> windows;  ///< theirs
};

class PaceRows {
  public:
    PaceRows() = default;
    PaceRows(const PaceRows&) = delete;
    PaceRows& operator=(const PaceRows&) = delete;
    virtual ~PaceRows() = default;

    /// As it was last committed; an empty one when there is none.
    virtual Result<RateWindow> peek_window(const std::string& window) = 0;
    /// The same, held as it is: others may hold it too, nobody changes it.
    virtual Result<RateWindow> hold_window(const std::string& window) = 0;
    /// The same, locked, created when missing.
    virtual Result<RateWindow> lock_window(const std::string& window) = 0;
    /// `open_at`: when the next write may begin.
    virtual Result<void> put_window(const std::string& window, const RateWindow& row, Instant open_at) = 0;
    /// Names of windows that are open for a write and waited for, longest open first.
    virtual Result<std::vector<std::string>> open_lines(std::size_t limit) = 0;
    /// Deliveries in line for the window, oldest first, that nobody works at and that are the oldest open one
    /// of their callback.
    virtual Result<std::vector<DeliveryRow>> heads_of_line(const std::string& window, std::size_t limit) = 0;
    /// True when any delivery stands in line for it.
    virtual Result<bool> has_line(const std::string& window) = 0;

    /// As it was last committed; an empty one when there is none.
    virtual Result<CredentialRow> peek_credential(const std::string& credential) = 0;
    /// The same, locked, created when missing.
    virtual Result<CredentialRow> lock_credential(const std::string& credential) = 0;
    virtual Result<void> put_credential(const std::string& credential, const CredentialRow& row) = 0;
    virtual Result<std::vector<std::string>> unsettled_credentials(std::size_t limit) = 0;
    /// Parked ones whose next try is due.
    virtual Result<std::vector<std::string>> credentials_to_probe(std::size_t limit) = 0;
    /// The oldest delivery that is parked for its credential.
    virtual Result<std::optional<DeliveryRow>> oldest_parked(const std::string& credential) = 0;
    /// Parks for `cause` at most `limit` deliveries of the credential that were to be sent and that nobody
    /// works at. Those that somebody has locked are left out.
    virtual Result<Moved> park(const std::string& credential, const std::string& cause,
                               std::size_t limit) = 0;
    /// Lets go at most `limit` that are parked for the credential, into their windows' lines, so that nobody
    /// waits behind all of them; as park().
    virtual Result<Moved> let_go(const std::string& credential, std::size_t limit) = 0;
};

}  // namespace epilogue
