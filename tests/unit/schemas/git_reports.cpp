#define BOOST_TEST_MODULE git_reports
#include "schemas/git_reports.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using Reports = std::vector<GitReport>;

BOOST_AUTO_TEST_CASE(a_commit_says_its_branch_and_its_hash) {
    BOOST_TEST((git_reports("git add -A && git commit -m x",
                            "[fix/clock 1a2b3c4] x\n 2 files changed, 3 insertions(+)") ==
                Reports{{"fix/clock", "1a2b3c4", false}}));
    BOOST_TEST((git_reports("git commit -m x", "[main (root-commit) 0123abc] x") ==
                Reports{{"main", "0123abc", false}}));
}

BOOST_AUTO_TEST_CASE(a_push_says_its_branch_and_mostly_its_hash) {
    const std::string to = "To github.com:o/r.git\n";
    BOOST_TEST((git_reports("git push", to + "   1a2b3c4..5d6e7f8  here -> there") ==
                Reports{{"there", "5d6e7f8", true}}));
    BOOST_TEST((git_reports("git push -f", to + " + 1a2b3c4...5d6e7f8 a -> a (forced update)") ==
                Reports{{"a", "5d6e7f8", true}}));
    BOOST_TEST((git_reports("git push -u origin a", to + " * [new branch]      a -> a") ==
                Reports{{"a", "", true}}));
}

BOOST_AUTO_TEST_CASE(a_chain_says_both) {
    const auto reports =
        git_reports("git commit -am x && git push", "[a 1a2b3c4] x\n   9999999..1a2b3c4  a -> a");
    BOOST_TEST((reports == Reports{{"a", "1a2b3c4", false}, {"a", "1a2b3c4", true}}));
}

BOOST_AUTO_TEST_CASE(what_is_no_commit_and_no_push_to_a_branch_is_none) {
    const std::vector<std::pair<std::string, std::string>> others{
        {"cat log", "[fix/clock 1a2b3c4] x"},
        {"git log", "   1a2b3c4..5d6e7f8  a -> a"},
        {"echo git commit", "[a 1a2b3c4] x"},
        {"git commit -m x", "[detached HEAD 1a2b3c4] x"},
        {"git commit -m x", "nothing to commit, working tree clean"},
        {"git commit -m x", "[INFO] something else"},
        {"git push", " ! [rejected]        a -> a (fetch first)"},
        {"git push", " * [new tag]         v1 -> v1"},
        {"git push", "remote:    1a2b3c4..5d6e7f8  a -> a"},
        {"git push", "   notahash..5d6e7f8  a -> a"},
        {"git push", "   1a2b3c4..5d6e7f8  a -> a`b"},
        {"git push", "Everything up-to-date"}};
    for (const auto& [command, output] : others)
        BOOST_TEST(git_reports(command, output).empty(), command + output);
}
