#include "tests/sim/store.h"

#include <algorithm>

#include "tests/sim/session.h"

namespace epilogue::sim {
namespace {

/// Which step of the protocol the transaction is.
std::pair<Point, Point> step_of(const Database& database, const Changes& changes) {
    for (const auto& [turn, row] : changes.put_summaries) {
        if (row.owed) return {Point::before_summary_lease, Point::after_summary_lease};
        const bool by_a_sender =
            std::any_of(changes.deliveries.begin(), changes.deliveries.end(), [&](const auto& change) {
                const DeliveryRow& before = database.deliveries.at(database.ordinals.at(change.first));
                return change.second.generation != before.generation;
            });
        if (!by_a_sender) return {Point::before_freeze, Point::after_freeze};
    }
    for (const auto& [partition, row] : changes.partitions) {
        const auto before = database.partitions.find(partition);
        const bool claims =
            before == database.partitions.end() || before->second.generation != row.generation;
        return claims ? std::pair{Point::before_claim, Point::after_claim}
                      : std::pair{Point::before_t1, Point::after_t1};
    }
    for (const auto& [id, row] : changes.deliveries) {
        const DeliveryRow& before = database.deliveries.at(database.ordinals.at(id));
        if (before.progress.state == DeliveryState::sent) return {Point::before_heal, Point::after_heal};
        if (row.progress.state == DeliveryState::sent) return {Point::before_t4, Point::after_t4};
        if (row.progress.attempt > before.progress.attempt) return {Point::before_t3, Point::after_t3};
        if (row.owner != before.owner ||
            (row.progress == before.progress && row.lease_until > before.lease_until))
            return {Point::before_t2, Point::after_t2};
        return {Point::before_record, Point::after_record};
    }
    for (const auto& [id, row] : changes.catch_ups) {
        if (!row) return {Point::before_catch_up, Point::after_catch_up};
        if (!row->owner.empty()) return {Point::before_log_lease, Point::after_log_lease};
    }
    if (changes.callbacks.empty()) return {Point::nothing_written, Point::nothing_written};
    return {Point::before_registration, Point::after_registration};
}

}  // namespace

Result<void> SimSession::begin() {
    if (database_.is_down()) return lost("the database is down");
    transaction_.begin();
    return {};
}

Failure SimSession::lost(const char* why) {
    constexpr int lost_connection = 2013;
    broken_ = true;
    transaction_.drop();
    return retryable(why, lost_connection);
}

Result<void> SimSession::send_commit() {
    if (!transaction_.is_open()) return lost("the session was ended");
    Schedule& schedule = process_.schedule();
    const std::shared_ptr<OpenTransaction> open = transaction_.open();
    const auto [before, after] = step_of(database_, open->changes);
    process_.pass(before);
    if (schedule.faults.strikes(Fault::stalled_transaction)) {
        schedule.say("{} stalls in an open transaction", process_.name());
        process_.stall(schedule.random.between(std::chrono::seconds{3}, std::chrono::seconds{150}));
    }
    process_.interleave();
    if (!transaction_.is_open()) return lost("the session was ended");
    if (schedule.faults.strikes(Fault::deadlock)) {
        constexpr int deadlock = 1213;
        transaction_.drop();
        return retryable("deadlock", deadlock);
    }
    if (schedule.faults.strikes(Fault::commit_lost)) {
        schedule.say("{}: COMMIT is lost ({})", process_.name(), name_of(before));
        return lost("COMMIT was lost");
    }
    if (schedule.faults.strikes(Fault::commit_lands_late)) {
        schedule.say("{}: COMMIT is on its way ({})", process_.name(), name_of(before));
        open->silent_since = schedule.now();
        schedule.after(schedule.random.between(std::chrono::milliseconds{1}, std::chrono::milliseconds{200}),
                       [&database = database_, open] {
                           if (!open->ended) database.apply(*open);
                       });
        broken_ = true;
        transaction_.forget();
        return lost("the answer to COMMIT was lost");
    }
    database_.apply(*open);
    schedule.say("{}: {}", process_.name(), name_of(after));
    if (schedule.faults.strikes(Fault::commit_answer_lost)) {
        schedule.say("{}: the answer to COMMIT is lost ({})", process_.name(), name_of(before));
        return lost("the answer to COMMIT was lost");
    }
    process_.pass(after);
    return {};
}

SimStore::~SimStore() = default;

Result<std::unique_ptr<StoreSession>> SimStore::take() {
    process_.interleave();
    if (database_.is_down()) {
        idle_.clear();
        constexpr int cannot_connect = 2002;
        return retryable("the database is down", cannot_connect);
    }
    if (idle_.empty())
        return std::unique_ptr<StoreSession>(std::make_unique<SimSession>(database_, process_));
    auto session = std::move(idle_.back());
    idle_.pop_back();
    return session;
}

void SimStore::give_back(std::unique_ptr<StoreSession> session) {
    if (static_cast<SimSession&>(*session).is_broken())
        idle_.clear();
    else
        idle_.push_back(std::move(session));
}

Result<void> SimStore::transact(const Work& work, const Check& is_done) {
    return epilogue::transact(*this, work, is_done);
}

Result<void> SimStore::read_only(const Work& work) {
    process_.pass(Point::reading);
    return epilogue::read_only(*this, work);
}

Result<void> SimStore::end_session(std::int64_t connection_id) {
    constexpr int cannot_connect = 2002;
    if (database_.is_down()) return retryable("the database is down", cannot_connect);
    database_.end_session(connection_id);
    return {};
}

Result<Installation> SimStore::installation() {
    return Installation{installation_id, Database::start};
}

}  // namespace epilogue::sim
