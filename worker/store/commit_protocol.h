// How one transaction is brought to its end: what is tried again, and how a COMMIT whose answer was lost is
// decided. Apart from the database driver, so that the simulation runs the same rule.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "worker/store/store.h"

namespace epilogue {

/// One database session, for one transaction at a time. Not thread-safe.
class StoreSession {
  public:
    StoreSession() = default;
    StoreSession(const StoreSession&) = delete;
    StoreSession& operator=(const StoreSession&) = delete;
    virtual ~StoreSession() = default;

    virtual Result<void> begin() = 0;
    virtual Result<void> send_commit() = 0;
    /// Ends an open transaction; when that fails the session is broken, which ends it too.
    virtual void roll_back() = 0;
    /// The rows, between begin() and send_commit().
    virtual Transaction& rows() = 0;
    virtual std::int64_t connection_id() const = 0;
};

/// Where sessions come from and go to.
class SessionSource {
  public:
    SessionSource() = default;
    SessionSource(const SessionSource&) = delete;
    SessionSource& operator=(const SessionSource&) = delete;
    virtual ~SessionSource() = default;

    virtual Result<std::unique_ptr<StoreSession>> take() = 0;
    virtual void give_back(std::unique_ptr<StoreSession> session) = 0;
    /// As Store::end_session.
    virtual Result<void> end_session(std::int64_t connection_id) = 0;
    /// A COMMIT was answered, after so long; or its answer was lost.
    virtual void committed(std::chrono::duration<double> after) = 0;
    virtual void commit_was_ambiguous() = 0;
    /// A transaction was undone by what may be over the next time: a conflict, or its lost connection.
    virtual void undone(const Error& why) = 0;
};

/// Store::transact over these sessions.
Result<void> transact(SessionSource& sessions, const Store::Work& work, const Store::Check& is_done);

/// Store::read_only over these sessions.
Result<void> read_only(SessionSource& sessions, const Store::Work& work);

}  // namespace epilogue
