#define BOOST_TEST_MODULE decode_v1
#include "decode_fixture.h"

using namespace epilogue;
using namespace epilogue::decode_test;

BOOST_AUTO_TEST_CASE(a_v1_event_needs_a_kind_we_know_and_an_id_that_fits) {
    BOOST_TEST(is_ignored(v1("BrandNewEvent", R"("source":"agent")")));
    const std::string too_long = "\"" + std::string(256, 'x') + "\"";
    for (const std::string& id : {std::string("null"), std::string("7"), std::string("\"\""), too_long})
        BOOST_TEST(is_ignored("{\"kind\":\"PauseEvent\",\"id\":" + id + "}"), id);
    BOOST_TEST(is_ignored(R"({"kind":"PauseEvent"})"));
    BOOST_TEST(event_of("{\"kind\":\"PauseEvent\",\"id\":\"" + std::string(255, 'x') + "\"}").id.size() ==
               255U);
}

BOOST_AUTO_TEST_CASE(v1_messages_go_by_their_source) {
    const std::string content = R"("llm_message":{"role":"user","content":[{"type":"text","text":"one"},
        {"type":"image","text":"no"},{"text":"no"},{"text":"two","type":"text"},{"type":"text","text":""}]})";
    body_of<UserMessage>(v1("MessageEvent", R"("source":"user",)" + content));
    const auto word = body_of<AgentMessage>(v1("MessageEvent", R"("source":"agent",)" + content));
    BOOST_TEST((word.kind == MessageKind::message));
    BOOST_TEST(word.text == "one\ntwo\n");
    for (const char* source : {"environment", "hook", "martian"})
        body_of<Activity>(v1("MessageEvent", "\"source\":\"" + std::string(source) + "\"," + content));
    BOOST_TEST(body_of<AgentMessage>(v1("MessageEvent", R"("source":"agent")")).text.empty());
}

BOOST_AUTO_TEST_CASE(v1_finish_is_a_word_only_when_it_was_parsed) {
    const auto finish = [](const std::string& action) {
        return v1("ActionEvent", R"("source":"agent","tool_name":"finish","action":)" + action);
    };
    const auto word =
        body_of<AgentMessage>(finish(R"({"kind":"FinishAction","message":"All d\u00f6ne \ud83d"})"));
    BOOST_TEST((word.kind == MessageKind::finish));
    BOOST_TEST(word.text == "All döne \uFFFD");
    for (const char* action :
         {"null", "{}", R"({"kind":"FinishAction"})", R"({"kind":"Other","message":"x"})"})
        body_of<AgentAction>(finish(action));
    body_of<Activity>(
        v1("ActionEvent", R"("source":"user","tool_name":"terminal","action":{"command":"ls"})"));
}

BOOST_AUTO_TEST_CASE(v1_only_execution_status_changes_the_status) {
    const auto change = body_of<StatusChange>(
        v1("ConversationStateUpdateEvent", R"("key":"execution_status","value":"finished")"));
    BOOST_TEST(change.status == "finished");
    BOOST_TEST(change.reason.empty());
    for (const char* members :
         {R"("key":"full_state","value":{"execution_status":"finished"})",
          R"("key":"stats","value":"finished")", R"("key":"execution_status","value":null)"})
        body_of<Activity>(v1("ConversationStateUpdateEvent", members));
}

BOOST_AUTO_TEST_CASE(v1_errors_of_the_conversation_and_of_the_agent_differ) {
    const auto error =
        body_of<ErrorDetail>(v1("ConversationErrorEvent", R"("code":"MaxIterationsReached","detail":"500")"));
    BOOST_TEST(error.code == "MaxIterationsReached");
    BOOST_TEST(error.detail == "500");
    const auto event = event_of(v1("AgentErrorEvent", R"("source":"agent","error":"no such tool")"));
    BOOST_TEST(std::holds_alternative<Activity>(event.body));
    BOOST_REQUIRE(work_of<ErrorSeen>(event).size() == 1U);
    BOOST_TEST(work_of<ErrorSeen>(event)[0].id == "e1");
    BOOST_TEST(work_of<ErrorSeen>(event)[0].text == "no such tool");
}

BOOST_AUTO_TEST_CASE(v1_commands_are_known_by_their_tool) {
    const auto act = [](const std::string& tool, const std::string& action) {
        return event_of(
            v1("ActionEvent", R"("source":"agent","tool_name":")" + tool + "\",\"action\":" + action));
    };
    for (const char* tool : {"terminal", "execute_bash", "bash"}) {
        const auto started = work_of<CommandStarted>(act(tool, R"({"command":"make","is_input":false})"));
        BOOST_REQUIRE(started.size() == 1U);
        BOOST_TEST(started[0].id == "e1");
        BOOST_TEST(started[0].command == "make");
    }
    BOOST_TEST(act("browser", R"({"command":"make"})").work.empty());
    BOOST_TEST(act("terminal", R"({"command":"C-c","is_input":true})").work.empty());
    BOOST_TEST(act("terminal", R"({"command":""})").work.empty());
    BOOST_TEST(act("terminal", "null").work.empty());
}

BOOST_AUTO_TEST_CASE(v1_results_name_the_action_they_answer) {
    const auto observe = [](const std::string& code) {
        return work_of<CommandEnded>(event_of(v1(
            "ObservationEvent",
            R"("source":"environment","tool_name":"terminal","action_id":"a9","observation":{"exit_code":)" +
                code + "}")));
    };
    BOOST_REQUIRE(observe("-1").size() == 1U);
    BOOST_TEST(observe("-1")[0].id == "a9");
    BOOST_TEST(observe("-1")[0].exit_code == -1);
    for (const char* code : {"null", "\"0\"", "1.0", "true", "99999999999"})
        BOOST_TEST(observe(code).empty(), code);
}

BOOST_AUTO_TEST_CASE(v1_files_are_changed_by_four_commands_of_the_editor_that_succeed) {
    const auto changed = [](const std::string& tool, const std::string& command,
                            const std::string& more = R"("path":"/w/a.txt","is_error":false)") {
        return work_of<FileChanged>(event_of(
            v1("ObservationEvent", R"("source":"environment","action_id":"a9","tool_name":")" + tool +
                                       R"(","observation":{"command":")" + command + "\"," + more + "}")));
    };
    for (const char* command : {"create", "str_replace", "insert", "undo_edit"}) {
        BOOST_REQUIRE(changed("file_editor", command).size() == 1U);
        BOOST_TEST(changed("str_replace_editor", command)[0].path == "/w/a.txt");
    }
    BOOST_TEST(changed("file_editor", "view").empty());
    BOOST_TEST(changed("terminal", "create").empty());
    // As 1.7.3 and 1.58.0 tell of an edit that failed.
    BOOST_TEST(changed("file_editor", "create", R"("path":"/w/a.txt","is_error":true)").empty());
    BOOST_TEST(changed("file_editor", "create", R"("is_error":true,"prev_exist":true)").empty());
    const auto asked = event_of(v1("ActionEvent", R"("source":"agent","tool_name":"file_editor",)"
                                                  R"("action":{"path":"/w/a.txt","command":"create"})"));
    BOOST_TEST(work_of<FileChanged>(asked).empty());
}

BOOST_AUTO_TEST_CASE(v1_goal_updates_say_how_the_goal_stands) {
    const auto update = [](const std::string& value) {
        return v1("ConversationStateUpdateEvent", R"("key":"goal","source":"environment","value":)" + value);
    };
    const auto goal = body_of<GoalUpdate>(
        update(R"({"active":false,"status":"capped","iteration":3,"max_iterations":5,"verdict":null})"));
    BOOST_TEST(!goal.active);
    BOOST_TEST(goal.outcome == "capped");
    BOOST_TEST(goal.rounds == 3);
    BOOST_TEST(goal.max_rounds == 5);
    BOOST_TEST(body_of<GoalUpdate>(update(R"({"active":true,"status":"running","iteration":-1})")).rounds ==
               0);
    for (const char* value : {"null", R"("running")", "{}", R"({"active":1})"})
        body_of<Activity>(update(value));
}

BOOST_AUTO_TEST_CASE(v1_stop_hooks_are_known_by_their_verdicts_and_by_the_configuration) {
    const auto hook = [](const std::string& members) { return v1("HookExecutionEvent", members); };
    const Event denied = event_of(hook(R"("source":"hook","hook_event_type":"Stop","blocked":true)"));
    BOOST_TEST(std::get<StopHookVerdict>(denied.body).is_denied);
    BOOST_TEST(denied.has_stop_hook.value_or(false));
    BOOST_TEST(!body_of<StopHookVerdict>(hook(R"("hook_event_type":"Stop","blocked":false)")).is_denied);
    BOOST_TEST(!event_of(hook(R"("hook_event_type":"PreToolUse","blocked":true)")).has_stop_hook.has_value());

    const auto state = [](const std::string& members) {
        return event_of(v1("ConversationStateUpdateEvent", members)).has_stop_hook;
    };
    const std::string stop = R"({"stop":[{"matcher":"*","hooks":[{"command":"x"}]}]})";
    BOOST_TEST(state(R"("key":"hook_config","value":)" + stop).value_or(false));
    BOOST_TEST(!state(R"("key":"hook_config","value":{"stop":[]})").value_or(true));
    BOOST_TEST(state(R"("key":"full_state","value":{"hook_config":)" + stop + "}").value_or(false));
    BOOST_TEST(!state(R"("key":"full_state","value":{"hook_config":null})").has_value());
    BOOST_TEST(!state(R"("key":"stats","value":)" + stop).has_value());
}

BOOST_AUTO_TEST_CASE(v1_a_full_state_is_the_end_of_a_run_by_its_header_alone) {
    const std::string value =
        v1("ConversationStateUpdateEvent", R"("key":"full_state","value":{"execution_status":"finished"})");
    body_of<Activity>(value);
    const Decoded decoded = Decoder().decode(value, {.seq = 4, .run_over = true});
    const Event& event = std::get<Event>(decoded);
    BOOST_TEST(std::get<RunOver>(event.body).status == "finished");
    BOOST_TEST(event.seq.value_or(-1) == 4);
    const Decoded status =
        Decoder().decode(v1("ConversationStateUpdateEvent", R"("key":"execution_status","value":"finished")"),
                         {.run_over = true});
    BOOST_TEST(std::holds_alternative<StatusChange>(std::get<Event>(status).body));
}

BOOST_AUTO_TEST_CASE(v1_a_timestamp_says_its_zone_or_is_local) {
    const auto is_utc = [](const std::string& time) {
        return event_of(R"({"id":"e1","kind":"PauseEvent","timestamp":")" + time + "\"}").is_utc;
    };
    BOOST_TEST(!is_utc("2026-11-21T09:00:01.5"));
    BOOST_TEST(!is_utc(""));
    for (const char* time :
         {"2026-11-21T09:00:01Z", "2026-11-21T09:00:01.5+09:00", "2026-11-21T09:00:01-05:00"})
        BOOST_TEST(is_utc(time), time);
}
