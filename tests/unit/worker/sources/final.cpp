#define BOOST_TEST_MODULE final_source
#include <boost/test/unit_test.hpp>

#include "worker/core/summarise.h"
#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

using namespace epilogue;

namespace {

MadeSummary made_of(const TurnEnd& turn, std::vector<std::string> sources) {
    ConfigExtensions sections;
    sections.edit<SummarySection>().sources = std::move(sources);
    return summarise(turn, ConversationId("c1"), summary_rules(sections));
}

TurnEnd turn_with(std::optional<std::string> words, Verdict verdict = Verdict::finished,
                  std::string status_event = "s1") {
    TurnEnd turn;
    turn.verdict = verdict;
    turn.status_event = std::move(status_event);
    turn.final_message = std::move(words);
    return turn;
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_words_the_next_source_is_taken_and_the_digest_when_there_is_no_next) {
    BOOST_TEST(made_of(turn_with("Done."), {"final", "digest"}).source == "final");
    BOOST_TEST(made_of(turn_with({}), {"final", "digest"}).source == "digest");
    BOOST_TEST(made_of(turn_with(" \n"), {"final"}).source == "digest");
    BOOST_TEST(made_of(turn_with("Done."), {"digest", "final"}).source == "digest");
}

BOOST_AUTO_TEST_CASE(a_v1_turn_that_finished_or_waits_may_be_asked_about_with_words_or_without) {
    for (const auto& words : {std::optional<std::string>("Done."), std::optional<std::string>()}) {
        BOOST_TEST(made_of(turn_with(words), {"final", "digest"}).may_ask);
        BOOST_TEST(made_of(turn_with(words, Verdict::awaiting_user_input), {"final"}).may_ask);
        BOOST_TEST(!made_of(turn_with(words), {"digest", "final"}).may_ask);
        BOOST_TEST(!made_of(turn_with(words, Verdict::finished, "17"), {"final"}).may_ask);
    }
    for (const Verdict verdict :
         {Verdict::error, Verdict::stuck, Verdict::rejected, Verdict::stopped, Verdict::timeout})
        BOOST_TEST(!made_of(turn_with({}, verdict), {"final"}).may_ask);
}
