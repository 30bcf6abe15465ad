#include "tests/integration/position_watch.h"

#include <exception>

#include "tests/integration/harness/eventually.h"

namespace epilogue::testing {

PositionWatch::PositionWatch(const Stage& stage)
    : stage_(stage), thread_([this](const std::stop_token& stop) { run(stop); }) {}

const std::vector<std::string>& PositionWatch::faults() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return faults_;
}

void PositionWatch::run(const std::stop_token& stop) {
    constexpr Milliseconds longest{600000};
    try {
        eventually("the watch is told to end", longest, [&] {
            sample();
            return stop.stop_requested();
        });
    } catch (const std::exception& error) {
        faults_.emplace_back(error.what());
    }
}

void PositionWatch::sample() {
    const auto committed = stage_.committed();
    const auto stored = stage_.stored();
    for (const auto& [partition, offset] : committed)
        if (const auto found = stored.find(partition); found == stored.end() || found->second < offset)
            faults_.push_back("partition " + std::to_string(partition) + " is committed up to " +
                              std::to_string(offset) + ", which is not stored");
    ++samples_;
}

}  // namespace epilogue::testing
