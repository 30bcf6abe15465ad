#define BOOST_TEST_MODULE summarise
#include "worker/core/summarise.h"

#include <boost/test/unit_test.hpp>

#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

using namespace epilogue;

namespace {

TurnEnd turn_of(Verdict verdict, std::optional<std::string> words = std::nullopt) {
    TurnEnd turn;
    turn.turn_key = TurnKey("t1");
    turn.verdict = verdict;
    turn.status_event = "f1";
    turn.final_message = std::move(words);
    return turn;
}

/// With these sources, in this order.
SummaryRules with_sources(std::vector<std::string> names, std::string web_url = "") {
    ConfigExtensions sections;
    auto& summary = sections.edit<SummarySection>();
    summary.sources = std::move(names);
    summary.web_url = std::move(web_url);
    return summary_rules(sections);
}

const SummaryRules default_rules = summary_rules({});

Summary summary_of(const TurnEnd& turn) {
    return summarise(turn, ConversationId("c1"), default_rules).summary;
}

std::string headline_for(std::string code) {
    TurnEnd turn = turn_of(Verdict::error);
    turn.reason = Reason{std::move(code), "litellm.BadRequestError: key sk-secret in /srv/app.py"};
    return summary_of(turn).headline;
}

std::string facts_for(const std::vector<Work>& work) {
    TurnEnd turn = turn_of(Verdict::finished);
    for (const Work& entry : work) add(turn.digest, entry);
    return summary_of(turn).facts;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_notice_is_one_line_with_what_is_asked) {
    Notice notice{TurnKey("notice:w1"), Verdict::waiting_for_confirmation, TurnKey("t1"), "", "rm -r cache"};
    const auto line_of = [](const Notice& one) {
        return summarise(one, ConversationId("c1"), default_rules).headline;
    };
    BOOST_TEST(line_of(notice) == "**Waiting for your confirmation**: `rm -r cache`");
    const Summary summary =
        summarise(notice, ConversationId("c1"), with_sources({"digest"}, "https://x/{conversation_id}"));
    BOOST_TEST(summary.final_message + summary.facts == "");
    BOOST_TEST(summary.link == "https://x/c1");
    BOOST_TEST(summary.about.turn == "t1");
    BOOST_TEST(summary.about.verdict == "waiting_for_confirmation");
    BOOST_TEST(summary.about.outcome == "waiting");
    notice.action.clear();
    BOOST_TEST(line_of(notice) == "**Waiting for your confirmation**");
    notice.verdict = Verdict::paused;
    BOOST_TEST(line_of(notice) == "**Paused**: it goes on when it is resumed");
}

BOOST_AUTO_TEST_CASE(the_first_line_is_the_verdict_in_bold) {
    const std::vector<std::pair<Verdict, std::string>> lines{
        {Verdict::finished, "**Finished**"},         {Verdict::awaiting_user_input, "**Waiting for you**"},
        {Verdict::error, "**Ended with an error**"}, {Verdict::stuck, "**Got stuck**"},
        {Verdict::rejected, "**Rejected**"},         {Verdict::stopped, "**Stopped**"},
        {Verdict::timeout, "**No sign of life**"}};
    BOOST_TEST(lines.size() == all_verdicts().size());
    for (const auto& [verdict, line] : lines) BOOST_TEST(summary_of(turn_of(verdict)).headline == line);
}

BOOST_AUTO_TEST_CASE(a_timeout_whose_end_may_lie_in_a_gap_is_no_lack_of_a_sign_of_life) {
    TurnEnd turn = turn_of(Verdict::timeout);
    turn.may_lie_in_gap = true;
    BOOST_TEST(summary_of(turn).headline == "**Outcome not known**: a part of the log was lost");
}

BOOST_AUTO_TEST_CASE(an_errors_code_or_v0_reason_follows_the_verdict) {
    BOOST_TEST(headline_for("LLMRateLimitError") == "**Ended with an error**: `LLMRateLimitError`");
    BOOST_TEST(headline_for("STATUS$ERROR_LLM_OUT_OF_CREDITS") ==
               "**Ended with an error**: `STATUS$ERROR_LLM_OUT_OF_CREDITS`");
    BOOST_TEST(headline_for("") == "**Ended with an error**");
    BOOST_TEST(headline_for("`@everyone`") == "**Ended with an error**");
}

BOOST_AUTO_TEST_CASE(of_exception_text_only_the_name_is_public) {
    BOOST_TEST(headline_for("litellm.APIError: key sk-1 at /srv/app.py") ==
               "**Ended with an error**: `litellm.APIError`");
    BOOST_TEST(headline_for("Boom: `\n@everyone") == "**Ended with an error**: `Boom`");
    const std::string headline = headline_for(std::string(5000, 'x'));
    BOOST_TEST(headline.size() < 200U);
}

BOOST_AUTO_TEST_CASE(an_errors_detail_is_nowhere_in_the_summary) {
    TurnEnd turn = turn_of(Verdict::error);
    turn.reason = Reason{"Code", "the secret detail"};
    const Summary summary = summary_of(turn);
    for (const std::string& part : {summary.headline, summary.final_message, summary.facts, summary.link})
        BOOST_TEST(part.find("secret") == std::string::npos, part);
}

BOOST_AUTO_TEST_CASE(the_agents_last_words_are_taken_word_for_word) {
    const std::string words = "  # Done\r\n\n```py\n<b>@you</b> & `x`\u2028 🚀\n```\n\n";
    for (const Verdict verdict : {Verdict::finished, Verdict::awaiting_user_input}) {
        const MadeSummary made = summarise(turn_of(verdict, words), ConversationId("c1"), default_rules);
        BOOST_TEST(made.summary.final_message == words);
        BOOST_TEST(made.source == "final");
    }
}

BOOST_AUTO_TEST_CASE(a_turn_without_words_has_the_digest_alone) {
    for (const std::optional<std::string>& words :
         {std::optional<std::string>{}, std::optional<std::string>{" \n"}}) {
        const MadeSummary made =
            summarise(turn_of(Verdict::finished, words), ConversationId("c1"), default_rules);
        BOOST_TEST(made.summary.final_message == "");
        BOOST_TEST(made.source == "digest");
    }
}

BOOST_AUTO_TEST_CASE(without_the_source_final_the_words_stay_out) {
    const MadeSummary made =
        summarise(turn_of(Verdict::finished, "Done."), ConversationId("c1"), with_sources({"digest"}));
    BOOST_TEST(made.summary.final_message == "");
    BOOST_TEST(made.source == "digest");
}

BOOST_AUTO_TEST_CASE(the_facts_are_a_few_lines) {
    BOOST_TEST(facts_for({FileChanged{"a.py"}, CommandStarted{"c1", "pytest"}, CommandEnded{"c1", 1},
                          CommandStarted{"c2", "pytest"}, CommandEnded{"c2", 0},
                          RequestMade{"https://github.com/o/r/pull/7"}}) ==
               "- Changed: `a.py`\n"
               "- Tests: `pytest` passed (fixed: failed before)\n"
               "- Pull request: https://github.com/o/r/pull/7");
}

BOOST_AUTO_TEST_CASE(what_is_finished_with_problems_says_so) {
    TurnEnd turn = turn_of(Verdict::finished, "Done.");
    add(turn.digest, CommandEnded{"c1", 1, "pytest"});
    BOOST_TEST(summary_of(turn).headline == "**Finished**, with problems");
    turn.verdict = Verdict::awaiting_user_input;
    BOOST_TEST(summary_of(turn).headline == "**Waiting for you**");
    add(turn.digest, CommandEnded{"c2", 0, "pytest"});
    turn.verdict = Verdict::finished;
    BOOST_TEST(summary_of(turn).headline == "**Finished**");
}

BOOST_AUTO_TEST_CASE(above_long_words_the_first_line_says_what_they_are_about) {
    TurnEnd turn = turn_of(Verdict::finished, "1\n2\n3\n4\n5\n6\n7\n8");
    add(turn.digest, FileChanged{"a.py"});
    add(turn.digest, CommandEnded{"c1", 0, "pytest"});
    BOOST_TEST(summary_of(turn).headline == "**Finished**: 1 file changed, tests pass");
    turn.final_message = "Long.\n\n\n\n\n\n\n- Which of the *two*\ndo you want? I think the first.";
    turn.verdict = Verdict::awaiting_user_input;
    BOOST_TEST(summary_of(turn).headline == "**Waiting for you**: do you want?");
    turn.final_message = std::string(700, 'x');
    BOOST_TEST(summary_of(turn).headline == "**Waiting for you**");
}

BOOST_AUTO_TEST_CASE(an_error_is_said_in_the_words_of_the_catalogue) {
    TurnEnd turn = turn_of(Verdict::error);
    turn.reason = Reason{"NewError", "secret", "auth"};
    const std::string facts = summary_of(turn).facts;
    BOOST_TEST(facts.starts_with("The model's provider refused the key of this installation.\n\n- Next: "),
               facts);
}

BOOST_AUTO_TEST_CASE(our_own_words_are_in_the_language_of_the_settings) {
    ConfigExtensions sections;
    sections.edit<SummarySection>().language = Language::german;
    sections.edit<SummarySection>().web_url = "https://app.example.com/";
    TurnEnd turn = turn_of(Verdict::finished, "All done.");
    add(turn.digest, FileChanged{"a.py", FileChange::created});
    const Summary summary = summarise(turn, ConversationId("c1"), summary_rules(sections)).summary;
    BOOST_TEST(summary.headline == "**Fertig**");
    BOOST_TEST(summary.final_message == "All done.");
    BOOST_TEST(summary.facts == "- Geändert: `a.py` (neu)");
    BOOST_TEST(summary.link_text == "Zur Unterhaltung");
}

BOOST_AUTO_TEST_CASE(figures_are_told_where_the_settings_want_them) {
    ConfigExtensions sections;
    sections.edit<SummarySection>().figures = true;
    TurnEnd turn = turn_of(Verdict::finished, "All done.");
    turn.digest.figures.steps = 3;
    BOOST_TEST(summarise(turn, ConversationId("c1"), summary_rules(sections)).summary.facts ==
               "- Took 3 steps");
    BOOST_TEST(summary_of(turn).facts == "");
}

BOOST_AUTO_TEST_CASE(a_turn_in_which_nothing_was_done_has_no_facts) {
    BOOST_TEST(facts_for({}) == "");
}

BOOST_AUTO_TEST_CASE(quoted_facts_stay_inside_their_code_span_and_on_their_line) {
    const std::string facts =
        facts_for({FileChanged{"a`b\n@everyone"}, CommandEnded{"c1", 0, "pytest `x`/close"}});
    BOOST_TEST(facts.find("`a'b ⏎ @everyone`") != std::string::npos, facts);
    BOOST_TEST(facts.find("`pytest 'x'/close`") != std::string::npos, facts);
    const std::string cut = facts_for({FileChanged{std::string(200, 'x')}});
    BOOST_TEST(cut == "- Changed: `" + std::string(120, 'x') + "…`");
}

BOOST_AUTO_TEST_CASE(the_link_names_the_conversation) {
    const auto link = [](std::string url) {
        return summarise(turn_of(Verdict::finished), ConversationId("c1"),
                         with_sources({"final", "digest"}, std::move(url)))
            .summary.link;
    };
    BOOST_TEST(link("") == "");
    BOOST_TEST(link("https://app.example.com/conversations/{conversation_id}") ==
               "https://app.example.com/conversations/c1");
    BOOST_TEST(link("https://app.example.com/") == "https://app.example.com/");
}

BOOST_AUTO_TEST_CASE(the_same_turn_gives_the_same_bytes) {
    TurnEnd turn = turn_of(Verdict::finished, "Done.");
    add(turn.digest, FileChanged{"a.py"});
    BOOST_TEST((to_json(summary_of(turn)) == to_json(summary_of(turn))));
}

BOOST_AUTO_TEST_CASE(a_goal_that_was_not_reached_is_named_with_its_rounds) {
    TurnEnd turn = turn_of(Verdict::finished);
    turn.digest.goal = Digest::Goal{true, 5, 5};
    BOOST_TEST(summary_of(turn).facts == "- Goal: capped after 5 of 5 rounds");
    turn.digest.goal = Digest::Goal{false, 0, 1};
    BOOST_TEST(summary_of(turn).facts == "- Goal: interrupted after 0 of 1 rounds");
}
