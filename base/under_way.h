// What a thread works at, kept where the handler of a crash can read it: so a crash is counted against the
// one row that was worked at, and not against all that the process had leased
// (base/process/crash_recorder.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace epilogue {

/// A row whose work crashed so many workers, one after the other, is not worked at again by itself.
constexpr int most_crashes = 2;

/// A text in a place of its own, without a pointer: it is read in a signal's handler and sent as it lies.
/// Longer ones are cut.
struct FixedText {
    std::uint16_t size = 0;
    std::array<char, 255> bytes{};

    /// Keeps as much of `text` as there is room for.
    void assign(std::string_view text);
    std::string_view view() const { return {bytes.data(), size}; }
};

struct UnderWay {
    FixedText what;  ///< "delivery", say; empty: nothing is under way
    FixedText key;
    FixedText more;  ///< the second part of a key that has two
};

/// What the calling thread works at. May be called in a signal's handler.
const UnderWay& under_way();

/// While it lives the calling thread works at that.
class WorkingAt {
  public:
    explicit WorkingAt(std::string_view what, std::string_view key, std::string_view more = {});
    ~WorkingAt();
    WorkingAt(const WorkingAt&) = delete;
    WorkingAt& operator=(const WorkingAt&) = delete;
};

/// From now on each thread that works at something has a stack of its own for handlers: a crash may mean that
/// its stack is used up.
void want_crash_stacks();

}  // namespace epilogue
