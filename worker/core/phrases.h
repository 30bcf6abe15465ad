// Our own words in a summary: one table a language (phrases_english.cpp, phrases_german.cpp). The agent's
// words, code, names and numbers are no phrases and stay as they are.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace epilogue {

enum class Language { english, german };

/// As [summary] language spells it: "en", "de".
std::string_view name_of(Language language);
/// In the order of their enumerators.
const std::vector<Language>& all_languages();

/// A {} stands for what is put in; each language has as many.
enum class Phrase {
    // Headlines. with_problems follows `finished`, gap_cause follows `gap`.
    finished,
    with_problems,
    waiting,
    error,
    stuck,
    rejected,
    stopped,
    timeout,
    gap,
    gap_cause,
    // Of notices; paused_until follows `paused`.
    unconfirmed,
    paused,
    paused_until,
    one_file_changed,
    files_changed,
    tests_pass,
    tests_fail,
    request_made,
    // What became of the task, where the headline does not say it.
    refused,
    stopped_early,
    outcome_unknown,
    falls_short,
    // Facts.
    goal_capped,
    goal_interrupted,
    changed,
    changed_many,
    created,
    deleted,
    count_created,
    count_edited,
    count_deleted,
    more,
    committed,
    committed_and_pushed,
    pushed,
    pushed_hash,
    tests,
    build,
    passed,
    failed,
    failed_with_code,
    no_result,
    fixed,
    count_passed,
    count_failed,
    count_skipped,
    packages_passed,
    packages_failed,
    pull_request,
    problem,
    editing,
    reason,
    repeated,
    repeated_nothing,
    last_step,
    // What to do next.
    next,
    next_failing,
    next_stuck,
    next_timeout,
    next_gap,
    // Figures.
    took,
    seconds,
    minutes,
    hours,
    one_step,
    steps,
    tokens,
    cost,
    // Below words that did not fit; base/redacted.h has them in English.
    one_character_cut,
    characters_cut,
    view_conversation,
    // The catalogue of errors: what happened.
    provider_refused_key,
    provider_limits_rate,
    provider_away,
    provider_failed,
    provider_timed_out,
    provider_refused_request,
    provider_refused_content,
    out_of_credits,
    context_full,
    model_answer_unusable,
    model_silent,
    iterations_used_up,
    budget_used_up,
    answer_not_storable,
    sandbox_lost,
    sandbox_out_of_memory,
    too_many_conversations,
    git_refused_key,
    cancelled,
    settings_wrong,
    context_too_small,
    sandbox_not_started,
    browser_not_started,
    tool_away,
    agent_not_started,
    agent_stuck,
    taken_over,
    agent_failed,
    server_failed,
    error_without_code,
    unknown_error,
    // The catalogue of errors: what to do.
    advise_key,
    advise_wait,
    advise_credits,
    advise_budget,
    advise_smaller,
    advise_go_on,
    advise_again,
    advise_settings,
    advise_content,
    advise_git,
    advise_memory,
    advise_close,
    advise_agent,
    advise_look,
};
constexpr std::size_t phrase_count = static_cast<std::size_t>(Phrase::advise_look) + 1;

using PhraseTable = std::map<Phrase, std::string_view>;
/// The table of one language.
const PhraseTable& english_phrases();
/// The table of one language.
const PhraseTable& german_phrases();

/// The table of a language that is given.
const PhraseTable& phrases_of(Language language);

/// A phrase in a language.
std::string_view phrase(Language language, Phrase phrase);

}  // namespace epilogue
