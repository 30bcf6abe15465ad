#define BOOST_TEST_MODULE processor
#include "sinks/processor.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "schemas/json_reader.h"
#include "sinks/github/github_target.h"
#include "sinks/gitlab/gitlab_target.h"
#include "sinks/jira/jira_target.h"
#include "sinks/linear/linear_target.h"
#include "sinks/log/log.h"
#include "sinks/slack/slack_target.h"

using namespace epilogue;

namespace {

Processor decoded(std::string_view type, std::string_view json) {
    auto processor = decode_processor(type, json);
    if (!processor) BOOST_FAIL(processor.error().text);
    return *processor;
}

template <class T>
T target_of(std::string_view type, std::string_view json) {
    const auto processor = decoded(type, json);
    const T* target = target_in<T>(processor.target);
    BOOST_REQUIRE(target != nullptr);
    return *target;
}

std::string refusal(std::string_view type, std::string_view json) {
    const auto processor = decode_processor(type, json);
    if (processor) return "accepted";
    BOOST_TEST((processor.error().remedy == Remedy::poison));
    return processor.error().text;
}

/// A recorded row, its JSON byte for byte.
struct RecordedRow {
    std::string type;
    std::string json;
};

/// The rows that are ours: every shape that upstream writes.
std::vector<RecordedRow> recorded_rows() {
    std::ifstream file(EPILOGUE_SOURCE_DIR "/tests/data/recordings/processor_json.jsonl");
    std::vector<RecordedRow> rows;
    for (std::string line; std::getline(file, line);) {
        const auto row = nlohmann::json::parse(line);
        const auto& type = row.at("processor_type").is_string() ? row.at("processor_type")
                                                                : row.at("processor_json").at("kind");
        if (sink_named(type.get<std::string>()))
            rows.push_back({type, JsonReader().raw_member(line, "processor_json")});
    }
    return rows;
}

std::string encoded(std::string_view type, std::string_view json, const Processor& processor) {
    const auto text = encode_processor(type, json, processor);
    if (!text) BOOST_FAIL(text.error().text);
    return *text;
}

/// The processor with another place: each number one higher, each text another.
Processor moved(Processor processor) {
    if (const auto* github = target_in<GithubTarget>(processor.target)) {
        GithubTarget target = *github;
        target.repo = "other/repo";
        ++target.number;
        if (target.review_comment_id) ++*target.review_comment_id;
        target.installation_id = 77;
        processor.target = target;
    } else if (const auto* gitlab = target_in<GitlabTarget>(processor.target)) {
        GitlabTarget target = *gitlab;
        target.project = "4456";
        ++target.iid;
        target.merge_request = !target.merge_request;
        if (!target.discussion_id.empty()) target.discussion_id = "abc";
        processor.target = target;
    } else if (const auto* slack = target_in<SlackTarget>(processor.target)) {
        SlackTarget target = *slack;
        target.channel = "C999";
        target.thread_ts = "17.5";
        target.team_id = "T999";
        processor.target = target;
    } else if (const auto* jira = target_in<JiraTarget>(processor.target)) {
        JiraTarget target = *jira;
        target.issue_key = "OTHER-13";
        target.site = "another";
        processor.target = target;
    } else if (const auto* linear = target_in<LinearTarget>(processor.target)) {
        LinearTarget target = *linear;
        target.issue_id = "00000000-5b4a-4392-8170-6f5e4d3c2b1a";
        target.issue_key = "OTHER-13";
        target.workspace = "another";
        processor.target = target;
    }
    return processor;
}

const std::string github_v0 =
    "server.conversation_callback_processor.github_callback_processor.GithubCallbackProcessor";

}  // namespace

BOOST_AUTO_TEST_CASE(types_are_dispatched_on_their_last_part) {
    for (const std::string sink : {"slack", "github", "gitlab", "jira", "linear", "webhook", "topic", "log"})
        BOOST_TEST(sink_named(sink).value() == sink);
    const std::map<std::string, std::string> classes{{"Slack", "slack"},
                                                     {"Github", "github"},
                                                     {"Gitlab", "gitlab"},
                                                     {"Jira", "jira"},
                                                     {"Linear", "linear"}};
    for (const auto& [prefix, sink] : classes)
        for (const std::string middle : {"", "V1"}) {
            const std::string name = prefix + middle + "CallbackProcessor";
            BOOST_TEST(sink_named(name).value() == sink);
            BOOST_TEST(sink_named("enterprise.some.module." + name).value() == sink);
        }
    for (const char* none :
         {"", ".", "LoggingCallbackProcessor", "x.LoggingCallbackProcessor", "x.log", "Slack",
          "x.TrelloCallbackProcessor", "SetTitleCallbackProcessor", "GithubCallbackProcessor.x", "GITHUB"})
        BOOST_TEST(!sink_named(none).has_value(), none);
}

BOOST_AUTO_TEST_CASE(short_forms_are_read) {
    const auto slack =
        target_of<SlackTarget>("slack", R"({"channel":"C1","thread_ts":"1763715600.000100","team_id":"T1"})");
    BOOST_TEST(slack.channel == "C1");
    BOOST_TEST(slack.thread_ts == "1763715600.000100");
    BOOST_TEST(slack.team_id == "T1");
    BOOST_TEST(target_of<SlackTarget>("slack", R"({"channel":"C1","thread_ts":null})").thread_ts.empty());

    const auto github = target_of<GithubTarget>(
        "github",
        R"({"repo":"Octo-Org/octo.repo","number":42,"review_comment_id":7,"installation_id":1,"more":[{}]})");
    BOOST_TEST(github.repo == "Octo-Org/octo.repo");
    BOOST_TEST(github.number == 42);
    BOOST_TEST(github.review_comment_id.value() == 7);
    BOOST_TEST(github.installation_id.value() == 1);
    BOOST_TEST(
        !target_of<GithubTarget>("github", R"({"repo":"o/r","number":1})").review_comment_id.has_value());

    const auto gitlab = target_of<GitlabTarget>(
        "gitlab", R"({"project":4455,"iid":7,"kind":"merge_request","discussion_id":"ab12"})");
    BOOST_TEST(gitlab.project == "4455");
    BOOST_TEST(gitlab.iid == 7);
    BOOST_TEST(gitlab.merge_request);
    BOOST_TEST(gitlab.discussion_id == "ab12");
    const auto issue =
        target_of<GitlabTarget>("gitlab", R"({"project":"group/sub/name","iid":7,"kind":"issue"})");
    BOOST_TEST(issue.project == "group/sub/name");
    BOOST_TEST(!issue.merge_request);

    target_of<LogTarget>("log", "{}");
}

BOOST_AUTO_TEST_CASE(every_recorded_row_of_ours_gives_its_target) {
    std::ifstream file(EPILOGUE_SOURCE_DIR "/tests/data/recordings/processor_json.jsonl");
    std::vector<std::string> places;
    int others = 0;
    for (std::string line; std::getline(file, line);) {
        const auto row = nlohmann::json::parse(line);
        const auto& json = row.at("processor_json");
        const std::string type =
            row.at("processor_type").is_string() ? row.at("processor_type") : json.at("kind");
        if (sink_named(type)) {
            places.push_back(describe(decoded(type, json.dump())));
        } else {
            ++others;
            BOOST_TEST(refusal(type, json.dump()).starts_with("processor_type: "));
        }
    }
    const std::string discussion = "/6a9c1750b37d513a43987b574953fceb50b03ce";
    const std::vector<std::string> expected{
        "github:octo-org/octo-repo#42",
        "github:octo-org/octo-repo#42",
        "github:octo-org/octo-repo#42",
        "github:octo-org/octo-repo#42/r987654323",
        "gitlab:4455#7",
        "gitlab:4455#7" + discussion + "7",
        "gitlab:4455!7" + discussion + "8",
        "gitlab:4455!7" + discussion + "9",
        "slack:T0789IJKL/C0456EFGH/1763715600.000100",
        "slack:T0789IJKL/C0456EFGH/1763715600.000100",
        "jira:acme/PROJ-12",
        "jira:jira.acme.example/PROJ-12",
        "linear:acme/ENG-12",
        "github:octo-org/octo-repo#42",
        "github:octo-org/octo-repo#42/r987654323",
        "gitlab:4455!7" + discussion + "8",
        "slack:T0789IJKL/C0456EFGH/1763715600.000100",
        "jira:678f7e2e-c224-4d51-b061-000000000000/PROJ-12",
        "linear:acme/ENG-12",
    };
    BOOST_TEST(places == expected, boost::test_tools::per_element());
    BOOST_TEST(others == 2);
}

BOOST_AUTO_TEST_CASE(an_inline_comment_is_known_by_its_file_even_without_a_line) {
    const std::string view = R"("full_repo_name":"o/r","issue_number":1,"installation_id":5,"comment_id":9)";
    const auto comment = target_of<GithubTarget>(github_v0, R"({"github_view":{)" + view + "}}");
    BOOST_TEST(!comment.review_comment_id.has_value());
    BOOST_TEST(comment.installation_id.value() == 5);
    const auto inline_comment = target_of<GithubTarget>(
        github_v0, R"({"github_view":{)" + view + R"(,"file_location":"a.py","line_number":null}})");
    BOOST_TEST(inline_comment.review_comment_id.value() == 9);
    BOOST_TEST(
        refusal(github_v0,
                R"({"github_view":{"full_repo_name":"o/r","issue_number":1,"file_location":"a.py"}})") ==
        R"(processor_json: field "github_view.comment_id": expected a positive integer)");
}

BOOST_AUTO_TEST_CASE(v1_replies_inline_only_when_told_to) {
    const std::string view =
        R"({"github_view_data":{"full_repo_name":"o/r","issue_number":1,"comment_id":9},"inline_pr_comment":)";
    BOOST_TEST(
        !target_of<GithubTarget>("GithubV1CallbackProcessor", view + "false}").review_comment_id.has_value());
    BOOST_TEST(
        target_of<GithubTarget>("GithubV1CallbackProcessor", view + "true}").review_comment_id.value() == 9);
    BOOST_TEST(refusal("GithubV1CallbackProcessor", view + "1}") ==
               R"(processor_json: field "inline_pr_comment": expected true or false)");
}

BOOST_AUTO_TEST_CASE(a_slack_thread_starts_at_the_message_unless_there_is_a_thread) {
    const auto parent = [](const std::string& thread) {
        return target_of<SlackTarget>("a.SlackCallbackProcessor",
                                      R"({"channel_id":"C1","message_ts":"2.2","thread_ts":)" + thread + "}")
            .thread_ts;
    };
    BOOST_TEST(parent("null") == "2.2");
    BOOST_TEST(parent("\"\"") == "2.2");
    BOOST_TEST(parent("\"1.1\"") == "1.1");
}

BOOST_AUTO_TEST_CASE(a_row_may_hold_any_form_of_its_sink) {
    BOOST_TEST(
        target_of<GithubTarget>("github", R"({"github_view_data":{"full_repo_name":"o/r","issue_number":1}})")
            .repo == "o/r");
    BOOST_TEST(target_of<GithubTarget>(github_v0, R"({"repo":"o/r","number":1})").repo == "o/r");
    BOOST_TEST(refusal(github_v0, "{}") == R"(processor_json: field "github_view": expected an object)");
    BOOST_TEST(refusal("github", "{}") == R"(processor_json: field "repo": expected "owner/name")");
}

BOOST_AUTO_TEST_CASE(a_wrong_field_is_named_with_what_was_expected) {
    const auto github = [](const std::string& members) {
        return refusal("github", R"({"repo":"o/r",)" + members + "}");
    };
    const std::string number = R"(processor_json: field "number": expected a positive integer)";
    for (const char* value : {"\"42\"", "0", "-1", "4.2", "null", "true", "9223372036854775808", "[42]"})
        BOOST_TEST(github("\"number\":" + std::string(value)) == number, value);
    BOOST_TEST(github("\"x\":1") == number);
    BOOST_TEST(github(R"("number":1,"review_comment_id":"7")") ==
               R"(processor_json: field "review_comment_id": expected a positive integer)");
    for (const char* repo : {"owner", "a/b/c", "/b", "a/", "a b/c", "../x", "a/..", "a/b?x", "a/b#1", ""})
        BOOST_TEST(refusal("github", "{\"number\":1,\"repo\":\"" + std::string(repo) + "\"}") ==
                       R"(processor_json: field "repo": expected "owner/name")",
                   repo);
    BOOST_TEST(refusal("gitlab", R"({"project":"group","iid":1,"kind":"issue"})") ==
               R"(processor_json: field "project": expected a positive integer or "group/name")");
    BOOST_TEST(refusal("gitlab", R"({"project":1,"iid":1,"kind":"mr"})") ==
               R"(processor_json: field "kind": expected "issue" or "merge_request")");
    BOOST_TEST(refusal("gitlab", R"({"project":1,"iid":1,"kind":"issue","discussion_id":"../x"})")
                   .starts_with(R"(processor_json: field "discussion_id": expected )"));
    BOOST_TEST(
        refusal("slack", R"({"channel":""})").starts_with(R"(processor_json: field "channel": expected )"));
    BOOST_TEST(refusal("slack", R"({"channel":"C1","thread_ts":17})")
                   .starts_with(R"(processor_json: field "thread_ts": expected )"));
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_refused_with_its_position_and_without_its_text) {
    BOOST_TEST(refusal("github", R"({"repo": s3cr3t})").find("byte 9") != std::string::npos);
    BOOST_TEST(refusal("github", R"({"repo": s3cr3t})").find("s3cr3t") == std::string::npos);
    BOOST_TEST(refusal("log", "[]") == "processor_json: expected an object");
    BOOST_TEST(refusal("log", "").starts_with("processor_json: not usable JSON"));
}

BOOST_AUTO_TEST_CASE(equal_places_are_described_alike_and_others_apart) {
    const auto place = [](std::string_view type, std::string_view json) {
        return describe(decoded(type, json));
    };
    BOOST_TEST(place("github", R"({"repo":"Owner/Name","number":42})") == "github:owner/name#42");
    BOOST_TEST(place("github", R"({"repo":"owner/name","number":42,"installation_id":9})") ==
               "github:owner/name#42");
    BOOST_TEST(place("slack", R"({"channel":"C1"})") == "slack:-/C1");
    BOOST_TEST(place("slack", R"({"channel":"C1","team_id":"T1","thread_ts":"1.2"})") == "slack:T1/C1/1.2");
    BOOST_TEST(place("gitlab", R"({"project":"G/p","iid":7,"kind":"issue"})") == "gitlab:g/p#7");
    BOOST_TEST(place("jira", R"({"issue_key":"P-1"})") == "jira:P-1");
    BOOST_TEST(place("jira", R"({"issue_key":"P-1","site":"Acme"})") == "jira:acme/P-1");
    BOOST_TEST(place("linear", R"({"issue_key":"ENG-1","workspace_name":"Acme"})") == "linear:acme/ENG-1");
    BOOST_TEST(place("log", "{}") == "log");
    BOOST_TEST(describe(Processor{"slack", SlackTarget{std::string(2000, 'x'), "", ""}}).size() == 512U);
}

BOOST_AUTO_TEST_CASE(every_recorded_row_is_written_back_byte_for_byte) {
    const auto rows = recorded_rows();
    BOOST_TEST(rows.size() == 19U);
    for (const auto& [type, json] : rows) {
        BOOST_TEST(json.size() > 40U);
        BOOST_TEST(encoded(type, json, decoded(type, json)) == json);
    }
}

BOOST_AUTO_TEST_CASE(another_place_is_written_into_every_recorded_row_and_the_rest_is_kept) {
    for (const auto& [type, json] : recorded_rows()) {
        const Processor other = moved(decoded(type, json));
        const std::string text = encoded(type, json, other);
        BOOST_TEST(text != json);
        BOOST_TEST(describe(decoded(type, text)) == describe(other));
        BOOST_TEST(encoded(type, text, decoded(type, json)) == json, "there and back again: " << type);
        // What differs are members that say where: nothing else came, went or changed.
        const auto changes = nlohmann::json::diff(nlohmann::json::parse(json), nlohmann::json::parse(text));
        const std::vector<std::string> places{
            "issue_id",        "issue_key",  "full_repo_name", "issue_number",  "comment_id",
            "installation_id", "project_id", "workspace_name", "jira_cloud_id", "is_mr",
            "discussion_id",   "channel_id", "message_ts",     "thread_ts",     "team_id"};
        for (const auto& change : changes) {
            const std::string path = change.at("path");
            const std::string member = path.substr(path.rfind('/') + 1);
            BOOST_TEST(change.at("op") == "replace", path);
            BOOST_TEST((std::find(places.begin(), places.end(), member) != places.end()), path);
        }
        BOOST_TEST(!changes.empty());
    }
}

BOOST_AUTO_TEST_CASE(a_short_row_is_changed_where_its_place_is_and_nowhere_else) {
    const std::string row =
        R"({ "more": [1.0e2, "\u00e9"],"repo":"o/r", "number" : 1 , "number":2,"x":null })";
    const auto with = [&](GithubTarget target) {
        return encoded("github", row, Processor{"github", std::move(target)});
    };
    BOOST_TEST(with({"o/r", 2, {}, {}}) == row);
    BOOST_TEST(with({"o/r", 3, {}, {}}) ==
               R"({ "more": [1.0e2, "\u00e9"],"repo":"o/r", "number" : 1 , "number":3,"x":null })");
    BOOST_TEST(
        with({"p/r", 2, 7, {}}) ==
        R"({ "more": [1.0e2, "\u00e9"],"repo":"p/r", "number" : 1 , "number":2,"x":null , "review_comment_id": 7})");
    BOOST_TEST(encoded("gitlab", R"({"project":1,"iid":1,"kind":"issue","discussion_id":"a"})",
                       Processor{"gitlab", GitlabTarget{"g/p", 1, true, ""}}) ==
               R"({"project":"g/p","iid":1,"kind":"merge_request","discussion_id":null})");
    BOOST_TEST(encoded("log", "{\"a\": 1}", Processor{"log", LogTarget{}}) == "{\"a\": 1}");
}

BOOST_AUTO_TEST_CASE(a_place_that_the_form_cannot_hold_is_refused) {
    const auto refused = [](std::string_view type, std::string_view json, const Processor& processor) {
        const auto text = encode_processor(type, json, processor);
        return text ? "accepted" : text.error().text;
    };
    const std::string comment = R"({"github_view":{"full_repo_name":"o/r","issue_number":1}})";
    BOOST_TEST(refused(github_v0, comment, Processor{"github", GithubTarget{"o/r", 1, 7, {}}}) ==
               "processor_json: this form cannot hold the place github:o/r#1/r7");
    BOOST_TEST(refused(github_v0, comment, Processor{"log", LogTarget{}})
                   .starts_with("processor_json: this form cannot hold the place"));
    BOOST_TEST(refused("GitlabCallbackProcessor",
                       R"({"gitlab_view":{"project_id":1,"issue_number":1,"is_mr":false}})",
                       Processor{"gitlab", GitlabTarget{"group/name", 1, false, ""}})
                   .starts_with("processor_json: this form cannot hold the place"));
    BOOST_TEST(refused("github", "{}", Processor{"github", GithubTarget{"o/r", 1, {}, {}}}) ==
               R"(processor_json: field "repo": expected "owner/name")");
}

BOOST_AUTO_TEST_CASE(whether_only_turns_from_here_are_wanted_is_said_in_any_form) {
    const auto wants = [](std::string_view type, const std::string& json) {
        const auto processor = decode_processor(type, json);
        return !processor ? processor.error().text : processor->only_from_here ? "only" : "all";
    };
    BOOST_TEST(wants("github", R"({"repo":"o/r","number":1})") == "all");
    BOOST_TEST(wants("github", R"({"repo":"o/r","number":1,"only_from_here":false})") == "all");
    BOOST_TEST(wants("github", R"({"repo":"o/r","number":1,"only_from_here":true})") == "only");
    BOOST_TEST(wants("log", R"({"only_from_here":true})") == "only");
    BOOST_TEST(wants(github_v0, R"({"only_from_here":true,)"
                                R"("github_view":{"full_repo_name":"o/r","issue_number":1}})") == "only");
    BOOST_TEST(wants("github", R"({"repo":"o/r","number":1,"only_from_here":"yes"})") ==
               R"(processor_json: field "only_from_here": expected true or false)");
}
