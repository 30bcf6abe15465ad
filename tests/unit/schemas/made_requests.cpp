#define BOOST_TEST_MODULE made_requests
#include "schemas/made_requests.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

using Links = std::vector<std::string>;

const std::string pull = "https://github.com/o/r/pull/7";
const std::string merge = "https://gitlab.com/g/p/-/merge_requests/8";

}  // namespace

BOOST_AUTO_TEST_CASE(a_command_that_opens_a_request_prints_it_on_a_line_of_its_own) {
    const std::string printed =
        "Creating pull request for fix into main in o/r\n\n" + pull + "\nsee https://github.com/o/r/pull/3\n";
    for (const char* command :
         {"gh pr create --fill", "git add -A && git commit -m x && gh pr create --title 'a b' --body c",
          "cd r; GH_TOKEN=x gh -R o/r pr create", "sudo gh pr new\n", "(hub pull-request -m x)"})
        BOOST_TEST(requests_made_by_command(command, printed) == Links{pull}, command);
    BOOST_TEST(requests_made_by_command("glab mr create -f", "!8 Fix\n " + merge + "\r\n") == Links{merge});
    for (const char* command : {"gh pr view 7", "gh pr list", "cat LINKS", "echo gh pr create", "", "gh pr"})
        BOOST_TEST(requests_made_by_command(command, printed).empty(), command);
}

BOOST_AUTO_TEST_CASE(a_push_names_its_request_in_a_line_of_the_remote) {
    const std::string printed = "remote: \nremote: View merge request for fix:\nremote:   " + merge +
                                "\nremote: \nTo gitlab.com:g/p.git\n" + pull + "\n";
    for (const char* command : {"git push", "git -C r -c a=b push origin fix 2>&1 | tail -5"})
        BOOST_TEST(requests_made_by_command(command, printed) == Links{merge}, command);
    BOOST_TEST(requests_made_by_command("git log", printed).empty());
    BOOST_TEST(requests_made_by_command("git stash push", printed).empty());
    // Where a request could be opened is no request.
    BOOST_TEST(requests_made_by_command("git push",
                                        "remote: https://github.com/o/r/pull/new/fix\n"
                                        "remote: https://gitlab.com/g/p/-/merge_requests/new?x=1")
                   .empty());
}

BOOST_AUTO_TEST_CASE(a_call_of_an_api_that_opens_a_request_answers_with_it) {
    const std::string answer = R"({"url": "https://api.github.com/repos/o/r/pulls/7", "html_url": ")" + pull +
                               R"(", "body": "see https://github.com/o/r/pull/3"})";
    for (const char* command :
         {R"(curl -s -X POST "https://api.github.com/repos/o/r/pulls" -d '{"title": "a; b"}')",
          R"(curl https://api.github.com/repos/o/r/pulls --data @body.json)",
          "gh api repos/o/r/pulls --method POST -f title=x"})
        BOOST_TEST(requests_made_by_command(command, answer) == Links{pull}, command);
    for (const char* command : {"curl https://api.github.com/repos/o/r/pulls",
                                "curl -X POST https://api.github.com/repos/o/r/pulls/7/comments -d x"})
        BOOST_TEST(requests_made_by_command(command, answer).empty(), command);
    const std::string gitlab = R"({"description": "after https://gitlab.com/g/p/-/merge_requests/1",
        "author": {"web_url": "https://gitlab.com/someone"}, "web_url":")" +
                               merge + R"("})";
    BOOST_TEST(requests_made_by_command("curl -X POST https://gitlab.com/api/v4/projects/1/merge_requests",
                                        gitlab) == Links{merge});
}

BOOST_AUTO_TEST_CASE(a_tool_that_opens_a_request_answers_with_it) {
    for (const char* tool : {"create_pr", "github_create_pull_request", "mcp__gitlab__create_merge_request",
                             "GitHub.create-pull-request", "create_mr"})
        BOOST_TEST(requests_made_by_tool(tool, "Opened " + pull + " after https://github.com/o/r/pull/3") ==
                       Links{pull},
                   tool);
    BOOST_TEST(requests_made_by_tool("create_pull_request",
                                     R"({"body": "like https://github.com/o/r/pull/3", "html_url": ")" +
                                         pull + "\"}") == Links{pull});
    for (const char* tool : {"get_pull_request", "create_pull_request_review", "recreate_pr", "fetch", ""})
        BOOST_TEST(requests_made_by_tool(tool, pull).empty(), tool);
}
