// Planted faults of the sinks, as base/mutant.h has those of the worker: only the simulation's own build
// (tests/sim) plants one. Everywhere else `mutant` is false at compile time.
#pragma once

namespace epilogue {

enum class SinkMutant {
    none,
    look_up_window_late,
    second_page_not_read,
    slack_cursor_ignored,
    author_not_compared,
    youngest_post_kept,
    waiting_time_halved,
};

#ifdef EPILOGUE_MUTANTS
inline SinkMutant planted_sink_mutant = SinkMutant::none;
inline bool mutant(SinkMutant which) {
    return planted_sink_mutant == which;
}
#else
/// Whether that fault is planted.
constexpr bool mutant(SinkMutant) {
    return false;
}
#endif

}  // namespace epilogue
