// What events of both generations tell of the work done.
#define BOOST_TEST_MODULE decode_work
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "decode_fixture.h"

using namespace epilogue;
using namespace epilogue::decode_test;

namespace {

Event v1_answer(const std::string& tool, const std::string& observation) {
    return event_of(v1("ObservationEvent", R"("source":"environment","action_id":"a9","tool_name":")" + tool +
                                               R"(","observation":{)" + observation + "}"));
}

Event v0_answer(const std::string& name, const std::string& members) {
    return event_of(v0(R"("source":"agent","cause":4,"observation":")" + name + "\"," + members));
}

/// A shell's answer as each generation tells it.
std::vector<Event> shell_answers(const std::string& command, const std::string& output, int exit_code) {
    const std::string code = std::to_string(exit_code);
    return {v1_answer("terminal", R"("command":")" + command + R"(","exit_code":)" + code +
                                      R"(,"content":[{"type":"text","text":")" + output +
                                      R"("}],"metadata":{"working_dir":"/w"})"),
            v0_answer("run", R"("content":")" + output + R"(","extras":{"command":")" + command +
                                 R"(","metadata":{"exit_code":)" + code + R"(,"working_dir":"/w"}})")};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_command_that_ended_has_its_text_its_output_and_its_folder) {
    for (const Event& event : shell_answers("pytest -q", "1 failed", 1)) {
        const auto ended = work_of<CommandEnded>(event);
        BOOST_REQUIRE(ended.size() == 1U);
        BOOST_TEST(ended[0].command == "pytest -q");
        BOOST_TEST(ended[0].output == "1 failed");
        BOOST_TEST(ended[0].folder == "/w");
        BOOST_TEST(ended[0].exit_code == 1);
    }
}

BOOST_AUTO_TEST_CASE(of_a_long_output_the_beginning_and_the_end_are_kept) {
    const std::string output =
        "begins" + std::string(100000, 'x') + "\u00fc" + std::string(6139, 'y') + "ends";
    for (const Event& event : shell_answers("make", output, 0)) {
        const std::string kept = work_of<CommandEnded>(event).at(0).output;
        BOOST_TEST(kept.size() <= max_output_bytes);
        BOOST_TEST(kept.size() > max_output_bytes - 8);
        BOOST_TEST(kept.starts_with("beginsxxx"));
        BOOST_TEST(kept.ends_with("yyends"));
        BOOST_TEST(nlohmann::json(kept).dump().size() > 0U);  // throws for torn code points
    }
}

BOOST_AUTO_TEST_CASE(files_that_are_plainly_removed_are_deleted) {
    const auto removed = [](const std::string& command, int exit_code = 0) {
        std::vector<std::string> paths;
        for (const Event& event : shell_answers(command, "", exit_code))
            for (const auto& changed : work_of<FileChanged>(event)) {
                BOOST_TEST((changed.change == FileChange::deleted));
                paths.push_back(changed.path);
            }
        return paths;
    };
    using Paths = std::vector<std::string>;
    BOOST_TEST(removed("rm a.py") == (Paths{"/w/a.py", "/w/a.py"}));
    BOOST_TEST(removed("cd x && git rm -q /o/b.py") == (Paths{"/o/b.py", "/o/b.py"}));
    BOOST_TEST(removed("rm -f a.py") == (Paths{"/w/a.py", "/w/a.py"}));
    for (const char* command :
         {"rm -rf build", "rm *.pyc", "rm $FILE", "echo rm a.py", "rmdir a", "git rm -r a"})
        BOOST_TEST(removed(command).empty(), command);
    BOOST_TEST(removed("rm a.py", 1).empty());
}

BOOST_AUTO_TEST_CASE(commits_and_pushes_are_told) {
    for (const Event& event :
         shell_answers("git commit -m x && git push", "[a 1a2b3c4] x\\n   9999999..1a2b3c4  a -> a", 0)) {
        const auto moved = work_of<BranchMoved>(event);
        BOOST_REQUIRE(moved.size() == 2U);
        BOOST_TEST(moved[0].hash == "1a2b3c4");
        BOOST_TEST(!moved[0].is_pushed);
        BOOST_TEST(moved[1].is_pushed);
    }
}

BOOST_AUTO_TEST_CASE(an_edit_tells_its_lines_and_whether_the_file_is_new) {
    const auto changes = [](const std::string& answer) {
        const std::string path = R"("path":"/w/a.py",)";
        return std::vector<FileChanged>{
            work_of<FileChanged>(v1_answer("file_editor", R"("command":"create",)" + path + answer)).at(0),
            work_of<FileChanged>(v0_answer("edit", R"("extras":{)" + path + answer + "}")).at(0)};
    };
    for (const auto& changed : changes(R"("prev_exist":false,"old_content":null,"new_content":"a\nb\n")")) {
        BOOST_TEST((changed.change == FileChange::created));
        BOOST_TEST((changed.lines == LineChange{2, 0}));
    }
    for (const auto& changed :
         changes(R"("prev_exist":true,"old_content":"a\nb\n","new_content":"a\nc\n")")) {
        BOOST_TEST((changed.change == FileChange::edited));
        BOOST_TEST((changed.lines == LineChange{1, 1}));
    }
    for (const auto& changed : changes(R"("prev_exist":true)")) BOOST_TEST(!changed.lines.has_value());
}

BOOST_AUTO_TEST_CASE(a_patch_tells_each_file_that_it_changed) {
    const auto changed = work_of<FileChanged>(v1_answer(
        "apply_patch", R"("message":"Done!","fuzz":0,"is_error":false,"commit":{"changes":{)"
                       R"("new.py":{"type":"add","old_content":null,"new_content":"a\nb\n"},)"
                       R"("gone.py":{"type":"delete","old_content":"a\n","new_content":null},)"
                       R"("src/a.py":{"type":"update","old_content":"a\nb\n","new_content":"a\nc\n"},)"
                       R"("from.py":{"type":"update","old_content":"a\n","new_content":"a\nb\n",)"
                       R"("move_path":"to.py"}}})"));
    std::string told;
    for (const FileChanged& file : changed) {
        told += file.path + (file.change == FileChange::created   ? " created"
                             : file.change == FileChange::deleted ? " deleted"
                                                                  : " edited");
        if (file.lines)
            told += " +" + std::to_string(file.lines->added) + " -" + std::to_string(file.lines->removed);
        told += "; ";
    }
    BOOST_TEST(told ==
               "new.py created +2 -0; gone.py deleted; src/a.py edited +1 -1; from.py deleted; "
               "to.py created +1 -0; ");
    const std::string failed = R"("is_error":true,"content":[{"type":"text","text":"Invalid Line: x"}])";
    const auto errors = work_of<ErrorSeen>(v1_answer("apply_patch", failed));
    BOOST_REQUIRE(errors.size() == 1U);
    BOOST_TEST(errors[0].is_edit);
    BOOST_TEST(v1_answer("apply_patch", R"("is_error":false,"commit":null)").work.empty());
}

BOOST_AUTO_TEST_CASE(tools_that_write_whole_files_and_the_planners_editor_tell_what_they_changed) {
    for (const char* tool : {"edit", "write_file"}) {
        const auto changed = [&](const std::string& more) {
            return work_of<FileChanged>(v1_answer(tool, R"("is_error":false,"file_path":"/w/a.py",)" + more))
                .at(0);
        };
        const auto made = changed(R"("is_new_file":true,"old_content":null,"new_content":"a\n")");
        BOOST_TEST((made.change == FileChange::created));
        BOOST_TEST((made.lines == LineChange{1, 0}));
        const auto edited = changed(R"("is_new_file":false,"old_content":"a\n","new_content":"b\n")");
        BOOST_TEST((edited.change == FileChange::edited));
        BOOST_TEST((edited.lines == LineChange{1, 1}));
        const auto errors = work_of<ErrorSeen>(v1_answer(tool, R"("is_error":true,"content":"no")"));
        BOOST_REQUIRE(errors.size() == 1U);
        BOOST_TEST(errors[0].is_edit);
    }
    BOOST_TEST(work_of<FileChanged>(v1_answer("planning_file_editor",
                                              R"("command":"create","path":"/w/PLAN.md","prev_exist":false)"))
                   .at(0)
                   .path == "/w/PLAN.md");
}

BOOST_AUTO_TEST_CASE(an_edit_that_failed_is_an_error_and_looking_at_a_file_is_none) {
    const std::string answer = R"(,"is_error":true,"content":[{"type":"text","text":"No such file"}])";
    const auto errors = work_of<ErrorSeen>(v1_answer("file_editor", R"("command":"str_replace")" + answer));
    BOOST_REQUIRE(errors.size() == 1U);
    BOOST_TEST(errors[0].is_edit);
    BOOST_TEST(errors[0].text == "No such file");
    BOOST_TEST(v1_answer("file_editor", R"("command":"view")" + answer).work.empty());
    const auto others = work_of<ErrorSeen>(v1_answer("browser", R"("x":1)" + answer));
    BOOST_REQUIRE(others.size() == 1U);
    BOOST_TEST(!others[0].is_edit);
    BOOST_TEST(work_of<ToolSucceeded>(v1_answer("browser", R"("is_error":false)")).size() == 1U);
    BOOST_TEST(work_of<ToolSucceeded>(v0_answer("browse", R"("content":"x")")).size() == 1U);
}

BOOST_AUTO_TEST_CASE(actions_say_what_they_do) {
    const auto v1_step = [](const std::string& tool, const std::string& action) {
        return body_of<AgentAction>(
                   v1("ActionEvent", R"("source":"agent","tool_name":")" + tool + R"(","action":)" + action))
            .step;
    };
    BOOST_TEST(v1_step("terminal", R"({"command":"ls"})") == "ls");
    BOOST_TEST(v1_step("file_editor", R"({"command":"view","path":"/a"})") == "file_editor view /a");
    BOOST_TEST(v1_step("browser", "null") == "browser");
    const auto v0_step = [](const std::string& action, const std::string& args) {
        return body_of<AgentAction>(v0(R"("source":"agent","action":")" + action + R"(","args":)" + args))
            .step;
    };
    BOOST_TEST(v0_step("run", R"({"command":"ls"})") == "ls");
    BOOST_TEST(v0_step("edit", R"({"path":"/a"})") == "edit /a");
    BOOST_TEST(v0_step("browse", "{}") == "browse");
}

BOOST_AUTO_TEST_CASE(the_agents_own_judgement_of_its_task_is_told) {
    for (const auto& [completed, is_reached] :
         {std::pair(R"("true")", true), std::pair(R"("partial")", false), std::pair(R"("false")", false),
          std::pair("true", true)}) {
        const auto said = work_of<OutcomeSaid>(event_of(
            v0(R"("source":"agent","action":"finish","args":{"final_thought":"x","task_completed":)" +
               std::string(completed) + "}")));
        BOOST_REQUIRE(said.size() == 1U);
        BOOST_TEST(said[0].is_reached == is_reached, completed);
    }
    BOOST_TEST(
        event_of(v0(R"("source":"agent","action":"finish","args":{"final_thought":"x"})")).work.empty());
    const auto refused = work_of<TaskRefused>(
        event_of(v0(R"("source":"agent","action":"reject","args":{"outputs":{"reason":"cannot"}})")));
    BOOST_REQUIRE(refused.size() == 1U);
    BOOST_TEST(refused[0].reason == "cannot");
}

BOOST_AUTO_TEST_CASE(what_a_conversation_has_cost_is_told_over_all_models) {
    const std::string model =
        R"({"accumulated_cost":0.0123,"accumulated_token_usage":{"prompt_tokens":1200,"completion_tokens":80}})";
    const auto v1_usage = work_of<UsageTold>(
        event_of(v1("ConversationStateUpdateEvent",
                    R"("source":"environment","key":"stats","value":{"usage_to_metrics":{"agent":)" + model +
                        R"(,"condenser":)" + model + "}}")));
    BOOST_REQUIRE(v1_usage.size() == 1U);
    BOOST_TEST((v1_usage[0] == UsageTold{24600, 2400, 160}));
    const auto v0_usage = work_of<UsageTold>(
        event_of(v0(R"("source":"agent","action":"run","args":{"command":"ls"},"llm_metrics":)" + model)));
    BOOST_REQUIRE(v0_usage.size() == 1U);
    BOOST_TEST((v0_usage[0] == UsageTold{12300, 1200, 80}));
    for (const char* cost : {"-1", "1e999", "\"1\"", "NaN", "null"}) {
        const auto usage = work_of<UsageTold>(
            event_of(v0(R"("source":"agent","action":"run","args":{},"llm_metrics":{"accumulated_cost":)" +
                        std::string(cost) + "}")));
        BOOST_TEST((usage.at(0) == UsageTold{}), cost);
    }
}

BOOST_AUTO_TEST_CASE(an_errors_kind_is_told_where_the_server_gives_it) {
    const auto detail = body_of<ErrorDetail>(
        v1("ConversationErrorEvent",
           R"("source":"environment","code":"X","detail":"d","classification":{"kind":"quota"})"));
    BOOST_TEST(detail.kind == "quota");
    BOOST_TEST(body_of<ErrorDetail>(v1("ConversationErrorEvent", R"("code":"X","detail":"d")")).kind == "");
}
