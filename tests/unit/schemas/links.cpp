#define BOOST_TEST_MODULE links
#include "schemas/links.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

BOOST_AUTO_TEST_CASE(a_link_is_cut_after_its_number_and_named_once) {
    const auto links = request_links(
        "https://GitHub.com/o/r/pull/12/files#diff, (https://github.com/o/r/pull/12). "
        "[MR](https://gitlab.example:8443/g/sub/p/-/merge_requests/7?tab=1)https://a.b/o/r/pull/3.");
    const std::vector<std::string> expected{"https://github.com/o/r/pull/12",
                                            "https://gitlab.example:8443/g/sub/p/-/merge_requests/7",
                                            "https://a.b/o/r/pull/3"};
    BOOST_TEST(links == expected, boost::test_tools::per_element());
    for (const char* none : {"https://github.com/o/r/pull/new/fix", "https://github.com/o/r/pull/12a",
                             "https://github.com/o/r/pull/0", "https://github.com/o/r/issues/12",
                             "https://github.com/a/o/r/pull/12", "https://github.com/r/pull/12",
                             "https://user:token@github.com/o/r/pull/12", "http://github.com/o/r/pull/12",
                             "https:///o/r/pull/1", "https://g.x/p/-/merge_requests/1",
                             "https://g.x/g/p/merge_requests/1", "https://github.com/o/r/pull/"})
        BOOST_TEST(request_links(none).empty(), none);
    std::string many;
    for (int i = 1; i < 100; ++i) many += "https://github.com/o/r/pull/" + std::to_string(i) + " ";
    BOOST_TEST(request_links(many).size() == max_links);
    BOOST_TEST(request_links("https://h/" + std::string(2000, 'x') + "/r/pull/1").empty());
}
