#include "tests/sim/session.h"

namespace epilogue::sim {

void SimTransaction::begin() {
    open_ = std::make_shared<OpenTransaction>();
    open_->session = session_;
    open_->silent_since = process_.schedule().now();
    database_.open(open_);
}

void SimTransaction::drop() {
    if (open_) open_->ended = true;
    open_.reset();
}

Result<void> SimTransaction::statement() {
    constexpr int lost_connection = 2013;
    ++database_.statements;
    process_.interleave();
    if (is_open() && process_.schedule().faults.strikes(Fault::statement_lost)) drop();
    if (!is_open()) {
        lost_ = true;
        return retryable("lost connection", lost_connection);
    }
    open_->silent_since = process_.schedule().now();
    return {};
}

Result<void> SimTransaction::lock(char table, std::string_view row, bool to_share) {
    constexpr std::chrono::milliseconds patience{5000};
    constexpr std::chrono::milliseconds look_again{500};
    constexpr int lock_wait_timeout = 1205;
    const LockKey key = lock_key(table, row);
    for (Micros waited{0}; database_.holder(key, open_.get(), to_share) != nullptr; waited += look_again) {
        if (waited >= patience) return retryable("lock wait", lock_wait_timeout);
        process_.wait(look_again);
        TRY_VOID(statement());
    }
    (to_share ? open_->shared : open_->locks).push_back(key);
    return {};
}

bool SimTransaction::is_locked(char table, std::string_view row) const {
    return database_.holder(lock_key(table, row), open_.get()) != nullptr;
}

}  // namespace epilogue::sim
