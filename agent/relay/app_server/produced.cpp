#include "agent/relay/app_server/produced.h"

namespace epilogue::relay {

void Produced::add(const TopicRecord& record, const std::stop_token& stop) {
    const auto settled = [state = state_](const Result<void>& answer) {
        const std::lock_guard lock(state->mutex);
        if (!answer) state->fault = answer.error().text;
        --state->under_way;
        state->changed.notify_all();
    };
    std::unique_lock lock(state_->mutex);
    for (;;) {
        ++state_->under_way;
        state_->has_room = false;
        lock.unlock();
        const bool is_taken = topic_.produce(record, settled);
        if (is_taken) return;
        topic_.when_room([state = state_] {
            const std::lock_guard room(state->mutex);
            state->has_room = true;
            state->changed.notify_all();
        });
        lock.lock();
        --state_->under_way;
        if (state_->changed.wait(lock, stop, [this] { return state_->has_room; })) continue;
        state_->fault = "the relay ends";
        return;
    }
}

Result<void> Produced::wait() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->under_way == 0; });
    if (!state_->fault.empty()) return retryable(std::exchange(state_->fault, ""));
    return {};
}

}  // namespace epilogue::relay
