// The one source of chance of a run: the same seed gives the same draws on every machine, which the
// distributions of the standard library do not promise.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace epilogue::testing {

/// splitmix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15ULL;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
        return mixed ^ (mixed >> 31U);
    }
    /// In [0, bound); bound > 0. The bias is far below what any schedule could show.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
    /// In [low, high], both included.
    int between(int low, int high) {
        return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1));
    }
    std::chrono::microseconds between(std::chrono::microseconds low, std::chrono::microseconds high) {
        return low + std::chrono::microseconds(static_cast<std::int64_t>(
                         below(static_cast<std::uint64_t>((high - low).count()) + 1)));
    }
    /// In [0, 1).
    double real01() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
    bool chance(double probability) { return real01() < probability; }
    /// A source of its own, so that draws of one part do not shift those of another.
    Random fork() { return Random(next()); }
    template <class List>
    const auto& one_of(const List& list) {
        return list[static_cast<std::size_t>(below(list.size()))];
    }

  private:
    std::uint64_t state_;
};

}  // namespace epilogue::testing
