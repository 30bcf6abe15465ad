// Answers of platforms that are nested so deep that a copy of them would end the process.
#define BOOST_TEST_MODULE deep_answers
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/github/github_answers.h"
#include "sinks/gitlab/gitlab_answers.h"
#include "sinks/slack/slack_answers.h"

using namespace epilogue;

namespace {

std::vector<std::string> deep_values() {
    constexpr std::size_t depth = 100'000;
    std::string objects;
    for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
    return {std::string(depth, '[') + std::string(depth, ']'), objects + "1" + std::string(depth, '}')};
}

HttpAnswer answer_of(int status, const std::string& body) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    answer.body = body;
    return answer;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gitlabs_notes_and_messages_are_not_followed_into_the_depth) {
    for (const std::string& deep : deep_values()) {
        const auto refused = classify_gitlab_note(answer_of(422, R"({"message":)" + deep + "}"));
        BOOST_TEST(name_of(refused.answer) == "refused");
        BOOST_TEST(refused.cause == "422");
        const auto created = classify_gitlab_note(answer_of(201, R"({"id":1,"author":)" + deep + "}"));
        BOOST_TEST(name_of(created.answer) == "unknown");
        BOOST_TEST(created.cause == "201 without a readable note");
        BOOST_TEST(!read_gitlab_notes(R"({"notes":[)" + deep + "]}"));
        BOOST_TEST(!read_gitlab_account(R"({"id":1,"x":)" + deep + "}"));
        BOOST_TEST(!gitlab_lookup_failed(answer_of(500, deep)).ok);
    }
}

BOOST_AUTO_TEST_CASE(slacks_pages_and_messages_are_not_followed_into_the_depth) {
    for (const std::string& deep : deep_values()) {
        const auto with = [&](const std::string& member) {
            return answer_of(200, R"({"ok":true,"ts":"1.2",")" + member + R"(":)" + deep + "}");
        };
        BOOST_TEST(!read_slack_page(with("messages")));
        BOOST_TEST(!read_slack_page(answer_of(200, R"({"ok":true,"messages":[{"metadata":)" + deep + "}]}")));
        BOOST_TEST(name_of(classify_slack_message(with("message")).answer) == "unknown");
        BOOST_TEST(!read_slack_account(with("user")));
        BOOST_TEST(slack_error(answer_of(200, R"({"ok":false,"error":"x","y":)" + deep + "}")).empty());
        BOOST_TEST(!slack_lookup_failed(with("messages")).ok);
    }
}

BOOST_AUTO_TEST_CASE(githubs_comments_and_messages_are_not_followed_into_the_depth) {
    for (const std::string& deep : deep_values()) {
        const auto refused =
            classify_github_comment(answer_of(422, R"({"message":"no","errors":)" + deep + "}"));
        BOOST_TEST(name_of(refused.answer) == "refused");
        BOOST_TEST(name_of(classify_github_comment(answer_of(201, R"({"id":1,"x":)" + deep + "}")).answer) ==
                   "unknown");
        BOOST_TEST(!read_github_comments("[" + deep + "]"));
        BOOST_TEST(!read_github_comment(R"({"id":1,"user":)" + deep + "}"));
        BOOST_TEST(!github_lookup_failed(answer_of(500, deep)).ok);
    }
}
