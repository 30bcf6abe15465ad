// Planted faults: the places where the simulation's own build (tests/sim) breaks the product on purpose, to
// show that such a break would be seen. Everywhere else `mutant` is false at compile time.
#pragma once

namespace epilogue {

enum class Mutant {
    none,
    offset_before_state,
    ambiguous_commit_believed,
    look_up_skipped,
    look_up_error_read_as_absent,
    lease_ignored,
    settle_ignored,
    repeat_counted,
    timer_stepped_while_lagging,
    generation_inside_delivery_id,
    late_registration_unlocked,
    result_recorded_without_fence,
    dedup_switched_off,
    look_up_settle_ignored,
    closed_window_ignored,
    summary_frozen_twice,
    known_events_missed,
    question_forgotten_before_answer,
    disproved_silence_counted,
    adoption_put_at_the_end,
    stale_running_kept,
    lost_running_believed,
    gap_not_asked_about,
    breaker_never_opens,
    lost_probe_not_repeated,
    held_posts_let_go_at_once,
    asked_a_few_times_only,
    neighbours_held_up,
    goal_round_counted,
    stop_hook_not_awaited,
    run_over_ignored,
    zone_not_learned,
    clock_set_back_late,
    followed_before_acknowledged,
    followed_given_up_forgotten,
    followed_end_not_held,
    followed_late_not_looked_for,
    followed_beyond_memory,
    followed_gap_given_up,
    followed_own_place_skipped,
    instruction_not_looked_for,
    instruction_behind_another_turn,
    instructed_end_counted,
    question_outlasts_lease,
};

#ifdef EPILOGUE_MUTANTS
inline Mutant planted_mutant = Mutant::none;
inline bool mutant(Mutant which) {
    return planted_mutant == which;
}
#else
/// Whether that fault is planted.
constexpr bool mutant(Mutant) {
    return false;
}
#endif

}  // namespace epilogue
