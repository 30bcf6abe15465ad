#define BOOST_TEST_MODULE verifier
#include "ops/embedded_demo/verifier.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue::demo;

namespace {

Scenario scenario(const std::string& repository, int issue, std::vector<ExpectedTurn> turns) {
    Scenario scenario;
    scenario.place = {"github", repository + "#" + std::to_string(issue)};
    scenario.turns = std::move(turns);
    return scenario;
}

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all{
        scenario(
            "a/b", 1,
            {{"", "Waiting for you", "Which file?", ""}, {"", "Finished", "Done, <b>two</b> files.", ""}}),
        scenario("a/b", 2,
                 {{"", "Ended with an error", "", "Broken"}, {"", "Ended with an error", "", "Broken"}})};
    return all;
}

const Post asked{"a/b#1", "**Waiting for you**\n\nWhich file?"};
const Post finished{"a/b#1", "**Finished**\n\nDone, &lt;b>two</b> files.\n\n- Ran 1 command"};
const Post broken{"a/b#2", "**Ended with an error**: `Broken`"};

}  // namespace

BOOST_AUTO_TEST_CASE(each_turn_told_once_is_good) {
    Verifier verifier(scenarios());
    for (const Post& post : {asked, broken, finished, broken}) BOOST_TEST(!verifier.add(post).again);
    BOOST_TEST(verifier.is_good());
    BOOST_TEST(verifier.turns() == 4);
    BOOST_TEST(verifier.reported() == 4);
    BOOST_TEST(verifier.posts() == 4);
}

BOOST_AUTO_TEST_CASE(a_turn_that_no_post_tells_is_lost) {
    Verifier verifier(scenarios());
    for (const Post& post : {asked, finished, broken}) verifier.add(post);
    BOOST_TEST(!verifier.is_good());
    BOOST_TEST(verifier.lost() == std::vector<std::string>{"a/b#2: Ended with an error: Broken"},
               boost::test_tools::per_element());
    BOOST_TEST(verifier.duplicates().empty());
}

BOOST_AUTO_TEST_CASE(a_turn_told_once_too_often_is_a_duplicate) {
    Verifier verifier(scenarios());
    for (const Post& post : {asked, finished, broken, broken}) verifier.add(post);
    BOOST_TEST(verifier.add(asked).again);
    BOOST_TEST(!verifier.is_good());
    BOOST_TEST(verifier.lost().empty());
    BOOST_TEST(verifier.duplicates() == std::vector<std::string>{"a/b#1: Waiting for you"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(other_words_another_code_and_another_place_are_strangers) {
    Verifier verifier(scenarios());
    verifier.add({"a/b#1", "**Finished**\n\nDone, <b>three</b> files."});
    verifier.add({"a/b#2", "**Ended with an error**: `Bent`"});
    verifier.add({"a/b#3", finished.text});
    BOOST_TEST(verifier.reported() == 0);
    BOOST_TEST(verifier.unexpected().size() == 3);
    BOOST_TEST(!verifier.is_good());
}
