#define BOOST_TEST_MODULE audit
#include "ops/embedded_demo/verifier.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue::embedded;

namespace {

Story story(const std::string& repository, int issue, std::vector<ExpectedTurn> turns) {
    Story story;
    story.place = {"github", repository + "#" + std::to_string(issue)};
    story.turns = std::move(turns);
    return story;
}

const std::vector<Story>& stories() {
    static const std::vector<Story> all{
        story("a/b", 1,
              {{"", "Waiting for you", "Which file?", ""}, {"", "Finished", "Done, <b>two</b> files.", ""}}),
        story("a/b", 2,
              {{"", "Ended with an error", "", "Broken"}, {"", "Ended with an error", "", "Broken"}})};
    return all;
}

const Post asked{"a/b#1", "**Waiting for you**\n\nWhich file?"};
const Post finished{"a/b#1", "**Finished**\n\nDone, &lt;b>two</b> files.\n\n- Ran 1 command"};
const Post broken{"a/b#2", "**Ended with an error**: `Broken`"};

}  // namespace

BOOST_AUTO_TEST_CASE(each_turn_told_once_is_good) {
    Audit audit(stories());
    for (const Post& post : {asked, broken, finished, broken}) BOOST_TEST(!audit.add(post).again);
    BOOST_TEST(audit.is_good());
    BOOST_TEST(audit.turns() == 4);
    BOOST_TEST(audit.told() == 4);
    BOOST_TEST(audit.posts() == 4);
}

BOOST_AUTO_TEST_CASE(a_turn_that_no_post_tells_is_lost) {
    Audit audit(stories());
    for (const Post& post : {asked, finished, broken}) audit.add(post);
    BOOST_TEST(!audit.is_good());
    BOOST_TEST(audit.lost() == std::vector<std::string>{"a/b#2: Ended with an error: Broken"},
               boost::test_tools::per_element());
    BOOST_TEST(audit.duplicates().empty());
}

BOOST_AUTO_TEST_CASE(a_turn_told_once_too_often_is_a_duplicate) {
    Audit audit(stories());
    for (const Post& post : {asked, finished, broken, broken}) audit.add(post);
    BOOST_TEST(audit.add(asked).again);
    BOOST_TEST(!audit.is_good());
    BOOST_TEST(audit.lost().empty());
    BOOST_TEST(audit.duplicates() == std::vector<std::string>{"a/b#1: Waiting for you"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(other_words_another_code_and_another_place_are_strangers) {
    Audit audit(stories());
    audit.add({"a/b#1", "**Finished**\n\nDone, <b>three</b> files."});
    audit.add({"a/b#2", "**Ended with an error**: `Bent`"});
    audit.add({"a/b#3", finished.text});
    BOOST_TEST(audit.told() == 0);
    BOOST_TEST(audit.strangers().size() == 3);
    BOOST_TEST(!audit.is_good());
}
