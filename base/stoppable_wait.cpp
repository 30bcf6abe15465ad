#include "base/stoppable_wait.h"

#include <condition_variable>
#include <mutex>

namespace epilogue {

bool wait_or_stop(const std::stop_token& stop, std::chrono::nanoseconds duration) {
    std::mutex mutex;
    std::condition_variable_any never_notified;
    std::unique_lock lock(mutex);
    never_notified.wait_for(lock, stop, duration, [] { return false; });
    return !stop.stop_requested();
}

void wait_for_stop(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never_notified;
    std::unique_lock lock(mutex);
    never_notified.wait(lock, stop, [] { return false; });
}

}  // namespace epilogue
