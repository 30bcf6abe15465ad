#include "worker/consume/partition_troubles.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds believed_short_after{3};
/// A log that was not seen to be too short for so long is no longer in doubt.
constexpr std::chrono::seconds doubt_ends_after{30};
constexpr std::chrono::seconds verify_again_after{10};

}  // namespace

int PartitionTroubles::failed(int partition) {
    const std::lock_guard lock(mutex_);
    return ++failures_[partition];
}

void PartitionTroubles::works_again(int partition) {
    const std::lock_guard lock(mutex_);
    failures_.erase(partition);
}

bool PartitionTroubles::is_short_for_long(int partition, SteadyTime now) {
    const std::lock_guard lock(mutex_);
    auto& doubt = short_logs_.try_emplace(partition, ShortLogDoubt{now, now}).first->second;
    if (now - doubt.last > doubt_ends_after) doubt.since = now;
    doubt.last = now;
    return now - doubt.since >= believed_short_after;
}

bool PartitionTroubles::owned_elsewhere(int partition) {
    const std::lock_guard lock(mutex_);
    return owned_elsewhere_.insert(partition).second;
}

bool PartitionTroubles::claimed(int partition) {
    const std::lock_guard lock(mutex_);
    short_logs_.erase(partition);
    return owned_elsewhere_.erase(partition) > 0;
}

bool PartitionTroubles::may_verify(SteadyTime now) const {
    const std::lock_guard lock(mutex_);
    return now >= verify_not_before_;
}

void PartitionTroubles::could_not_verify(SteadyTime now) {
    const std::lock_guard lock(mutex_);
    verify_not_before_ = now + verify_again_after;
}

}  // namespace epilogue
