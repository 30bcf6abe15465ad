#include "worker/core/summarise.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "worker/core/cut_words.h"
#include "worker/core/digest_facts.h"
#include "worker/core/error_catalogue.h"

namespace epilogue {
namespace {

Phrase phrase_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::finished:
            return Phrase::finished;
        case Verdict::awaiting_user_input:
            return Phrase::waiting;
        case Verdict::error:
            return Phrase::error;
        case Verdict::stuck:
            return Phrase::stuck;
        case Verdict::rejected:
            return Phrase::rejected;
        case Verdict::stopped:
            return Phrase::stopped;
        case Verdict::timeout:
            return Phrase::timeout;
        case Verdict::waiting_for_confirmation:
            return Phrase::unconfirmed;
        case Verdict::paused:
            return Phrase::paused;
    }
    return Phrase::finished;
}

/// Whether the words push the facts below what is seen at a glance.
bool are_long(std::string_view words) {
    constexpr std::ptrdiff_t lines_at_a_glance = 5;
    constexpr std::size_t bytes_at_a_glance = 600;
    const auto text = trimmed(words);
    return text.size() > bytes_at_a_glance || std::ranges::count(text, '\n') > lines_at_a_glance;
}

/// The last question in the words, on one line; "": there is none that fits.
std::string question_in(std::string_view words) {
    constexpr std::size_t longest = 200;
    const auto end = words.rfind('?');
    if (end == std::string_view::npos) return "";
    const auto before = end == 0 ? std::string_view::npos : words.find_last_of("\n.!?:", end - 1);
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    constexpr std::string_view marks = " \t-*>#_";
    auto question = words.substr(begin, end + 1 - begin);
    question.remove_prefix(std::min(question.find_first_not_of(marks), question.size()));
    return question.size() > longest ? "" : std::string(question);
}

/// The verdict in bold; behind it an error's code, or above long words what they are about.
std::string headline_of(const TurnEnd& turn, std::string_view words, Language language) {
    const auto said = [language](Phrase name) { return phrase(language, name); };
    if (turn.may_lie_in_gap) return fmt::format("**{}**: {}", said(Phrase::gap), said(Phrase::gap_cause));
    std::string headline = fmt::format("**{}**", said(phrase_of(turn.verdict)));
    if (turn.verdict == Verdict::error) {
        const std::string code = turn.reason ? public_code(turn.reason->code) : "";
        return code.empty() ? headline : headline + ": `" + code + "`";
    }
    if (turn.verdict == Verdict::finished && has_problems(turn.digest))
        headline += fmt::format(", {}", said(Phrase::with_problems));
    if (!are_long(words)) return headline;
    const bool asks = turn.verdict == Verdict::awaiting_user_input;
    const std::string more = asks ? question_in(words) : gist_of(turn, language);
    return more.empty() ? headline : headline + ": " + more;
}

std::string_view outcome_of(const TurnEnd& turn) {
    switch (turn.verdict) {
        case Verdict::finished:
            return has_problems(turn.digest) ? "done_with_problems" : "done";
        case Verdict::awaiting_user_input:
            return "waiting";
        case Verdict::error:
        case Verdict::stuck:
        case Verdict::rejected:
            return "failed";
        case Verdict::stopped:
            return "stopped";
        case Verdict::waiting_for_confirmation:
        case Verdict::paused:
            return "waiting";
        case Verdict::timeout:
            break;
    }
    return "unknown";
}

/// The same for programs.
TurnOutcome about(const TurnEnd& turn, const ConversationId& conversation_id) {
    TurnOutcome outcome;
    outcome.conversation_id = conversation_id;
    outcome.turn = turn.turn_key;
    outcome.verdict = name_of(turn.verdict);
    outcome.outcome = outcome_of(turn);
    if (turn.verdict == Verdict::error && turn.reason) outcome.error_code = public_code(turn.reason->code);
    outcome.requests = turn.digest.links;
    const Digest::Figures& figures = turn.digest.figures;
    outcome.steps = figures.steps;
    outcome.seconds = figures.seconds;
    if (figures.usage) {
        outcome.tokens_in = figures.usage->tokens_in;
        outcome.tokens_out = figures.usage->tokens_out;
        outcome.cost = figures.usage->cost;
    }
    return outcome;
}

void add_link(Summary& summary, const ConversationId& conversation_id, const SummaryRules& rules) {
    if (rules.web_url.empty()) return;
    summary.link = replaced(rules.web_url, "{conversation_id}", conversation_id);
    summary.link_text = phrase(rules.language, Phrase::view_conversation);
}

}  // namespace

Summary summarise(const Notice& notice, const ConversationId& conversation_id, const SummaryRules& rules) {
    TurnEnd turn;
    turn.turn_key = notice.turn_key;
    turn.verdict = notice.verdict;
    Summary summary;
    const std::string asked = notice.verdict == Verdict::paused
                                  ? std::string(phrase(rules.language, Phrase::paused_until))
                                  : code_span(notice.action);
    summary.headline = fmt::format("**{}**", phrase(rules.language, phrase_of(notice.verdict)));
    if (notice.verdict == Verdict::paused || !notice.action.empty()) summary.headline += ": " + asked;
    summary.about = about(turn, conversation_id);
    add_link(summary, conversation_id, rules);
    return summary;
}

MadeSummary summarise(const TurnEnd& turn, const ConversationId& conversation_id, const SummaryRules& rules) {
    MadeSummary made;
    for (const SummarySource& source : rules.sources) {
        if (source.may_ask && source.may_ask(turn)) {
            made.may_ask = true;
            made.needs_server = made.needs_server && source.needs_server;
        }
        auto words = source.words_of(turn);
        if (!words) continue;
        made.source = source.name;
        made.summary.final_message = cut_words_in(rules.language, std::move(*words));
        break;
    }
    const std::string& words = made.summary.final_message;
    made.summary.headline = headline_of(turn, words, rules.language);
    made.summary.facts = facts_of(turn, {rules.language, rules.figures, words});
    made.summary.about = about(turn, conversation_id);
    add_link(made.summary, conversation_id, rules);
    return made;
}

}  // namespace epilogue
