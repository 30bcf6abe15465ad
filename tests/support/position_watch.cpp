#include "tests/support/position_watch.h"

#include <condition_variable>
#include <exception>
#include <mutex>

namespace epilogue::testing {

PositionWatch::PositionWatch(const Rig& rig, Servers servers)
    : rig_(rig), servers_(servers), thread_([this](const std::stop_token& stop) { run(stop); }) {}

const std::vector<std::string>& PositionWatch::faults() {
    end();
    return faults_;
}

const std::vector<PositionSample>& PositionWatch::seen() {
    end();
    return seen_;
}

void PositionWatch::end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void PositionWatch::run(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds every{100};
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        try {
            sample();
        } catch (const std::exception& error) {
            if (servers_ == Servers::always_there) faults_.emplace_back(error.what());
        }
        stopped.wait_for(lock, stop, every, [] { return false; });
    }
}

void PositionWatch::sample() {
    PositionSample now;
    now.committed = rig_.committed();
    now.stored = rig_.stored();
    ++samples_;
    for (const auto& [partition, offset] : now.committed)
        if (const auto found = now.stored.find(partition);
            found == now.stored.end() || found->second < offset)
            faults_.push_back("partition " + std::to_string(partition) + " is committed up to " +
                              std::to_string(offset) + ", which is not stored");
    if (seen_.empty() || seen_.back().committed != now.committed || seen_.back().stored != now.stored)
        seen_.push_back(std::move(now));
}

}  // namespace epilogue::testing
