#include "worker/store/commit_protocol.h"

#include <chrono>

#include "base/io/mysql.h"
#include "base/mutant.h"

namespace epilogue {
namespace {

constexpr int max_tries = 5;

enum class Committed { yes, no };

Result<bool> ask_if_done(SessionSource& sessions, std::int64_t lost_connection, const Store::Check& is_done) {
    TRY_VOID(sessions.end_session(lost_connection));
    bool done = false;
    TRY_VOID(read_only(sessions, [&](Transaction& transaction) -> Result<void> {
        TRY(done, is_done(transaction));
        return {};
    }));
    return done;
}

bool may_pass(const Error& error) {
    return is_conflict(error) || is_lost_connection(error);
}

/// Whether the COMMIT whose answer was lost is in the database. An error of `is_done` itself is the answer.
Result<Committed> decide(SessionSource& sessions, std::int64_t lost_connection, const Store::Check& is_done) {
    for (int tries = 1;; ++tries) {
        const auto done = ask_if_done(sessions, lost_connection, is_done);
        if (done) return *done ? Committed::yes : Committed::no;
        if (!may_pass(done.error())) return Failure(done.error());
        if (tries == max_tries)
            return retryable("whether the last COMMIT was done is not known yet: " + done.error().text,
                             done.error().code);
    }
}

/// Yes: the work is in the database. No: it is not, and trying again may help. Error: it is not, or that is
/// not known, and the caller decides.
Result<Committed> attempt(SessionSource& sessions, const Store::Work& work, const Store::Check& is_done) {
    TRY(auto session, sessions.take());
    const auto give_up = [&](const Error& error) -> Result<Committed> {
        session->roll_back();  // after 1205 the transaction is still open
        sessions.give_back(std::move(session));
        if (!may_pass(error)) return Failure(error);
        sessions.undone(error);
        return Committed::no;
    };
    if (const auto begun = session->begin(); !begun) return give_up(begun.error());
    if (const auto worked = work(session->rows()); !worked) return give_up(worked.error());
    const auto started = std::chrono::steady_clock::now();
    const auto committed = session->send_commit();
    if (committed) {
        sessions.committed(std::chrono::steady_clock::now() - started);
        sessions.give_back(std::move(session));
        return Committed::yes;
    }
    if (is_conflict(committed.error())) return give_up(committed.error());  // the server has rolled it back
    sessions.commit_was_ambiguous();
    if (mutant(Mutant::ambiguous_commit_believed)) return Committed::yes;
    TRY(const Committed decided, decide(sessions, session->connection_id(), is_done));
    if (decided == Committed::no) sessions.undone(committed.error());
    return decided;
}

}  // namespace

Result<void> transact(SessionSource& sessions, const Store::Work& work, const Store::Check& is_done) {
    for (int tries = 1; tries <= max_tries; ++tries) {
        TRY(const Committed committed, attempt(sessions, work, is_done));
        if (committed == Committed::yes) return {};
    }
    return retryable("the database refused the transaction " + std::to_string(max_tries) +
                         " times (deadlock, lock wait or lost connection)",
                     1205);
}

Result<void> read_only(SessionSource& sessions, const Store::Work& work) {
    TRY(auto session, sessions.take());
    Result<void> result = session->begin();
    if (result) result = work(session->rows());
    session->roll_back();
    sessions.give_back(std::move(session));
    return result;
}

}  // namespace epilogue
