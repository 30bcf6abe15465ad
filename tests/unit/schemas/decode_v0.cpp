#define BOOST_TEST_MODULE decode_v0
#include "decode_fixture.h"

using namespace epilogue;
using namespace epilogue::decode_test;

BOOST_AUTO_TEST_CASE(a_v0_event_needs_an_integer_id) {
    const auto with_id = [](const std::string& id) {
        return R"({"action":"message","source":"user","id":)" + id + "}";
    };
    const Event first = event_of(with_id("0"));
    BOOST_TEST((first.schema == Schema::v0));
    BOOST_TEST(first.id == "0");
    BOOST_TEST(event_of(with_id("9223372036854775807")).number == INT64_MAX);
    for (const char* id : {"-1", "\"7\"", "null", "1.0", "1e2", "true", "NaN", "9223372036854775808"})
        BOOST_TEST(is_ignored(with_id(id)), id);
    BOOST_TEST(is_ignored(R"({"action":"message","source":"user"})"));
}

BOOST_AUTO_TEST_CASE(v0_words_come_from_args_and_never_from_the_top_level_message) {
    const auto message = body_of<AgentMessage>(v0(
        R"("source":"agent","message":"token is s3cr3t","action":"message","args":{"content":"token is <secret_hidden>"})"));
    BOOST_TEST((message.kind == MessageKind::message));
    BOOST_TEST(message.text == "token is <secret_hidden>");
    const auto finish = body_of<AgentMessage>(v0(
        R"("source":"agent","message":"All done!","action":"finish","args":{"final_thought":"Fixed.","thought":""})"));
    BOOST_TEST((finish.kind == MessageKind::finish));
    BOOST_TEST(finish.text == "Fixed.");
    const auto silent =
        body_of<AgentMessage>(v0(R"("source":"agent","message":"All done!","action":"finish","args":{})"));
    BOOST_TEST((silent.kind == MessageKind::finish));
    BOOST_TEST(silent.text.empty());
    BOOST_TEST(body_of<AgentMessage>(v0(R"("source":"agent","message":"x","action":"message","args":{})"))
                   .text.empty());
}

BOOST_AUTO_TEST_CASE(v0_actions_go_by_source_and_name) {
    body_of<UserMessage>(v0(R"("source":"user","action":"message","args":{"content":"hi"})"));
    body_of<Activity>(v0(R"("source":"environment","action":"message","args":{"content":"hi"})"));
    for (const char* name : {"run", "read", "reject", "delegate", "condensation_request", "brand_new"})
        body_of<AgentAction>(v0(R"("source":"agent","action":")" + std::string(name) + "\""));
    for (const char* name : {"system", "recall", "condensation", "think"})
        body_of<Activity>(v0(R"("source":"agent","action":")" + std::string(name) + "\""));
    body_of<Activity>(
        v0(R"("source":"environment","action":"change_agent_state","args":{"agent_state":"finished"})"));
    body_of<Activity>(v0(R"("source":"user","action":"recall")"));
    BOOST_TEST(is_ignored(v0(R"("source":"user","action":"brand_new")")));
    BOOST_TEST(is_ignored(v0(R"("source":"agent","observation":"brand_new")")));
}

BOOST_AUTO_TEST_CASE(v0_state_changes_carry_their_reason) {
    const auto change = body_of<StatusChange>(v0(
        R"("source":"environment","observation":"agent_state_changed","extras":{"agent_state":"error","reason":"STATUS$X"})"));
    BOOST_TEST(change.status == "error");
    BOOST_TEST(change.reason == "STATUS$X");
    BOOST_TEST(
        body_of<StatusChange>(v0(R"("observation":"agent_state_changed","extras":{"agent_state":"init"})"))
            .reason.empty());
    body_of<Activity>(v0(R"("observation":"agent_state_changed","extras":{})"));
    body_of<Activity>(v0(R"("observation":"recall","content":"x")"));
}

BOOST_AUTO_TEST_CASE(v0_work_is_told_by_runs_edits_and_errors) {
    const auto started = work_of<CommandStarted>(
        event_of(v0(R"("source":"agent","action":"run","args":{"command":"pytest -q"})")));
    BOOST_REQUIRE(started.size() == 1U);
    BOOST_TEST(started[0].id == "7");
    BOOST_TEST(started[0].command == "pytest -q");
    const auto ended = work_of<CommandEnded>(event_of(v0(
        R"("source":"agent","cause":4,"observation":"run","content":"","extras":{"metadata":{"exit_code":2}})")));
    BOOST_REQUIRE(ended.size() == 1U);
    BOOST_TEST(ended[0].id == "4");
    BOOST_TEST(ended[0].exit_code == 2);
    for (const char* name : {"edit", "write"}) {
        const auto changed = work_of<FileChanged>(
            event_of(v0(R"("cause":4,"extras":{"path":"/w/x"},"observation":")" + std::string(name) + "\"")));
        BOOST_REQUIRE(changed.size() == 1U);
        BOOST_TEST(changed[0].path == "/w/x");
        // Asked for is not done: what failed is answered by an observation `error`.
        const std::string asked = R"("source":"agent","args":{"path":"/w/x"},"action":")";
        BOOST_TEST(work_of<FileChanged>(event_of(v0(asked + name + "\""))).empty());
    }
    const auto errors =
        work_of<ErrorSeen>(event_of(v0(R"("observation":"error","content":"no file","message":"s3cr3t")")));
    BOOST_REQUIRE(errors.size() == 1U);
    BOOST_TEST(errors[0].id == "7");
    BOOST_TEST(errors[0].text == "no file");
}
