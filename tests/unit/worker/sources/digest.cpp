#define BOOST_TEST_MODULE digest_source
#include <boost/test/unit_test.hpp>

#include "worker/core/summarise.h"
#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(it_has_no_words_asks_for_none_and_ends_the_search) {
    ConfigExtensions sections;
    sections.edit<SummarySection>().sources = {"digest", "final"};
    TurnEnd turn;
    turn.status_event = "s1";
    turn.final_message = "Done.";
    add(turn.digest, FileChanged{"a.py"});
    const MadeSummary made = summarise(turn, ConversationId("c1"), summary_rules(sections));
    BOOST_TEST(made.source == "digest");
    BOOST_TEST(made.summary.final_message == "");
    BOOST_TEST(made.summary.facts == "- Changed: `a.py`");
    BOOST_TEST(!made.may_ask);
}
