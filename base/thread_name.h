// Names of threads, as ps, perf and debuggers show them (docs/architecture.md says which does what).
#pragma once

#include <stop_token>
#include <thread>
#include <utility>

namespace epilogue {

/// Names the thread that calls it, and those that it starts from then on. At most 15 characters, or the name
/// stays as it was.
void name_this_thread(const char* name);

/// A thread of that name that does `work`, which takes a stop token.
template <class Work>
std::jthread named_thread(const char* name, Work work) {
    return std::jthread([name, work = std::move(work)](const std::stop_token& stop) {
        name_this_thread(name);
        work(stop);
    });
}

}  // namespace epilogue
