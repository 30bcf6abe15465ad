// Rows as OpenHands writes them, of both generations: what becomes a callback, what is left, what cannot be
// read.
#define BOOST_TEST_MODULE upstream_row
#include "ops/importer/upstream_row.h"

#include <fstream>
#include <map>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "schemas/json_reader.h"
#include "sinks/processor.h"

namespace {

using namespace epilogue;

const std::string github_v0 =
    "server.conversation_callback_processor.github_callback_processor.GithubCallbackProcessor";
const std::string slack_v0 =
    "server.conversation_callback_processor.slack_callback_processor.SlackCallbackProcessor";
const std::string github_place = R"({"github_view":{"full_repo_name":"o/r","issue_number":4}})";

UpstreamRow row_of(const std::string& type, const std::string& processor) {
    UpstreamRow row;
    row.id = "7";
    row.conversation_id = "5F0C7F2E-93F5-4F6C-9D35-8A3F3C1B7A10";
    row.status = "ACTIVE";
    row.processor_type = type;
    row.processor = processor;
    row.version = "740";
    return row;
}

TakenOver taken(UpstreamGeneration generation, const UpstreamRow& row) {
    const Reading reading = read_row(generation, row);
    if (const auto* fault = std::get_if<Unreadable>(&reading)) BOOST_FAIL(fault->reason);
    BOOST_REQUIRE(std::holds_alternative<TakenOver>(reading));
    return std::get<TakenOver>(reading);
}

bool is_left(UpstreamGeneration generation, const UpstreamRow& row, LeftOut why) {
    const Reading reading = read_row(generation, row);
    const auto* left = std::get_if<LeftOut>(&reading);
    return left != nullptr && *left == why;
}

std::string reason(UpstreamGeneration generation, const UpstreamRow& row) {
    const Reading reading = read_row(generation, row);
    const auto* fault = std::get_if<Unreadable>(&reading);
    return fault == nullptr ? "it can be read" : fault->reason;
}

/// The processor of a row of V1 on GitHub, with these members beside its place.
std::string github_v1(const std::string& more) {
    return R"({"github_view_data":{"issue_number":42,"full_repo_name":"o/r","installation_id":5})" + more +
           R"(,"kind":"GithubV1CallbackProcessor"})";
}

const std::string slack_v1 =
    R"({"slack_view_data":{"channel_id":"C1","message_ts":"17.5","thread_ts":null,"team_id":"T1"},)"
    R"("kind":"SlackV1CallbackProcessor"})";

}  // namespace

BOOST_AUTO_TEST_CASE(each_recorded_shape_becomes_a_callback_or_says_why_not) {
    std::ifstream file(EPILOGUE_SOURCE_DIR "/tests/data/recordings/processor_json.jsonl");
    std::map<std::string, int> outcomes;
    for (std::string line; std::getline(file, line);) {
        const auto shape = nlohmann::json::parse(line);
        const bool is_v1 = shape.at("table") == "event_callback";
        const std::string processor = JsonReader().raw_member(line, "processor_json");
        const auto row = row_of(is_v1 ? "" : shape.at("processor_type").get<std::string>(), processor);
        const Reading reading = read_row(is_v1 ? UpstreamGeneration::v1 : UpstreamGeneration::v0, row);
        if (const auto* left = std::get_if<LeftOut>(&reading))
            ++outcomes[*left == LeftOut::tells_nobody ? "tells nobody" : "posted already"];
        if (const auto* fault = std::get_if<Unreadable>(&reading)) {
            ++outcomes["unreadable"];
            BOOST_TEST(fault->reason.starts_with("processor_type: \""), fault->reason);
            BOOST_TEST(fault->reason.find("API key") == std::string::npos, fault->reason);
        }
        if (const auto* take = std::get_if<TakenOver>(&reading)) {
            ++outcomes[sink_named(take->processor_type).value_or("none")];
            BOOST_TEST(take->conversation_id == "5f0c7f2e93f54f6c9d358a3f3c1b7a10");
            // Byte for byte, but for a secret.
            if (!take->key_left_out) BOOST_TEST(take->processor_json == processor);
            BOOST_TEST(take->processor_json.find("API key") == std::string::npos);
        }
    }
    const std::map<std::string, int> expected{{"github", 5},      {"gitlab", 5}, {"slack", 3},
                                              {"jira", 3},        {"linear", 2}, {"posted already", 1},
                                              {"tells nobody", 2}};
    BOOST_TEST((outcomes == expected));
}

BOOST_AUTO_TEST_CASE(an_api_key_in_plain_text_is_not_taken_over) {
    const auto jira = [](const std::string& key) {
        return R"({"kind": "JiraV1CallbackProcessor", "svc_acc_email": "bot@acme.example",)"
               R"( "decrypted_api_key": )" +
               key + R"(, "issue_key": "PROJ-12", "jira_cloud_id": "678"})";
    };
    for (const char* key : {R"("planted")", R"(["planted"])"}) {
        const TakenOver take = taken(UpstreamGeneration::v1, row_of("", jira(key)));
        BOOST_TEST(take.processor_json == jira("null"));
        BOOST_TEST(take.key_left_out.value_or("none") == "678");
    }
    const TakenOver take = taken(UpstreamGeneration::v1, row_of("", jira("null")));
    BOOST_TEST(take.processor_json == jira("null"));
    BOOST_TEST(!take.key_left_out);
}

BOOST_AUTO_TEST_CASE(of_v0_the_column_names_the_class_and_of_v1_the_processor_does) {
    BOOST_TEST(taken(UpstreamGeneration::v0, row_of(github_v0, github_place)).processor_type == github_v0);
    BOOST_TEST(taken(UpstreamGeneration::v1, row_of("", slack_v1)).processor_type ==
               "SlackV1CallbackProcessor");
    BOOST_TEST(reason(UpstreamGeneration::v1, row_of("", R"({"github_view_data":{}})")) ==
               "processor: kind: expected a class name");
}

BOOST_AUTO_TEST_CASE(only_active_rows_owe_a_post) {
    for (const char* status : {"COMPLETED", "ERROR", "DISABLED", ""}) {
        auto row = row_of(github_v0, "not even JSON");
        row.status = status;
        BOOST_TEST(is_left(UpstreamGeneration::v0, row, LeftOut::not_active), status);
    }
}

BOOST_AUTO_TEST_CASE(a_v1_row_that_has_asked_for_its_one_summary_owes_nothing_more) {
    BOOST_TEST(is_left(UpstreamGeneration::v1, row_of("", github_v1(R"(,"should_request_summary":false)")),
                       LeftOut::posted_already));
    BOOST_TEST(
        taken(UpstreamGeneration::v1, row_of("", github_v1(R"(,"should_request_summary":true)"))).told == "");
    BOOST_TEST(taken(UpstreamGeneration::v1, row_of("", github_v1(""))).told == "");
}

BOOST_AUTO_TEST_CASE(what_openhands_told_is_handed_on) {
    auto row = row_of("", slack_v1);
    BOOST_TEST(taken(UpstreamGeneration::v1, row).told == "");
    row.posted_event = "0b9c7c1e-1111-4222-8333-444455556666";
    BOOST_TEST(taken(UpstreamGeneration::v1, row).told == row.posted_event);
    row.posted_event.assign(256, 'x');  // no event of any server
    BOOST_TEST(taken(UpstreamGeneration::v1, row).told == "");

    const auto slack = [](const std::string& handled) {
        return row_of(slack_v0,
                      R"({"channel_id":"C1","message_ts":"17.5","last_user_msg_id":)" + handled + "}");
    };
    BOOST_TEST(taken(UpstreamGeneration::v0, slack("14")).told == "14");
    for (const char* nothing : {"null", "-1", "\"14\"", "1.5"})
        BOOST_TEST(taken(UpstreamGeneration::v0, slack(nothing)).told == "", nothing);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_names_its_column) {
    auto row = row_of(github_v0, github_place);
    row.conversation_id.reset();
    BOOST_TEST(reason(UpstreamGeneration::v0, row) == "conversation_id: none: it is for every conversation");
    row.conversation_id = "";
    BOOST_TEST(reason(UpstreamGeneration::v0, row).starts_with("conversation_id: expected"));
    row.conversation_id = std::string(256, 'c');
    BOOST_TEST(reason(UpstreamGeneration::v0, row).starts_with("conversation_id: expected"));

    row = row_of(github_v0, github_place);
    row.processor.reset();
    BOOST_TEST(reason(UpstreamGeneration::v0, row) == "processor_json: over 8 MiB");
    BOOST_TEST(reason(UpstreamGeneration::v1, row) == "processor: over 8 MiB");
    for (const char* json : {"", "{", "[]", "7", "{\"github_view\":\"\xff\"}"})
        BOOST_TEST(reason(UpstreamGeneration::v0, row_of(github_v0, json)).starts_with("processor_json: "),
                   json);
    BOOST_TEST(reason(UpstreamGeneration::v0, row_of(github_v0, R"({"github_view":{"issue_number":"4"}})"))
                   .starts_with("processor_json: field \"github_view."));
    BOOST_TEST(reason(UpstreamGeneration::v0, row_of("x.TrelloCallbackProcessor", "{}"))
                   .starts_with("processor_type: "));
    for (const std::string& type : {std::string(300, 'x') + ".GithubCallbackProcessor",
                                    std::string("\xff.GithubCallbackProcessor"), std::string()})
        BOOST_TEST(
            reason(UpstreamGeneration::v0, row_of(type, github_place)).starts_with("processor_type: "));
}

BOOST_AUTO_TEST_CASE(a_digest_changes_with_what_openhands_changes_and_with_nothing_else) {
    const auto row = row_of(github_v0, github_place);
    auto other = row;
    other.version = "741";
    other.created_at = Instant{std::chrono::hours{1}};
    BOOST_TEST(digest_of(other) == digest_of(row));
    other = row;
    other.status = "COMPLETED";
    BOOST_TEST(digest_of(other) != digest_of(row));
    other = row;
    *other.processor += " ";
    BOOST_TEST(digest_of(other) != digest_of(row));
    other = row;
    other.conversation_id = "another";
    BOOST_TEST(digest_of(other) != digest_of(row));
    // What one column ends with is not what the next begins with.
    other = row;
    other.status = row.status + row.processor_type;
    other.processor_type = "";
    BOOST_TEST(digest_of(other) != digest_of(row));
}
