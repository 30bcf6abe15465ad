#!/usr/bin/env python3
"""Writes tests/data/conversations/*.jsonl: conversations composed from the shapes of the recordings.

Each stands for something that a post has to tell well. The events are those of real servers (V1: 1.58, V0: 0.62);
what happens in them is made up. Usage: make_conversations.py FOLDER
"""
import json
import pathlib
import sys

ROOT = "/workspace/project"


class V1:
    """A conversation as an agent server of 1.58 tells it."""

    def __init__(self):
        self.events = []
        self.time = 0
        self.number = 0
        self.cost = 0.0
        self.tokens = [0, 0]

    def add(self, kind, source, wait=1.0, **fields):
        self.time += wait
        self.number += 1
        clock = "2026-11-21T%02d:%02d:%09.6f" % (9 + int(self.time) // 3600, int(self.time) % 3600 // 60, self.time % 60)
        name = "00000000-0000-4000-8000-%012d" % self.number
        self.events.append({"id": name, "timestamp": clock, "source": source, **fields, "kind": kind})
        return name

    def status(self, value):
        self.add("ConversationStateUpdateEvent", "environment", 0.01, key="execution_status", value=value)

    def stats(self, cost=0.02, tokens=(4000, 250)):
        self.cost += cost
        self.tokens = [self.tokens[0] + tokens[0], self.tokens[1] + tokens[1]]
        usage = {"model": "m", "prompt_tokens": self.tokens[0], "completion_tokens": self.tokens[1]}
        self.add("ConversationStateUpdateEvent", "environment", 0.01, key="stats", value={"usage_to_metrics": {
            "agent": {"model_name": "m", "accumulated_cost": self.cost, "accumulated_token_usage": usage}}})

    def user(self, text):
        self.add("MessageEvent", "user", 5, llm_message={"role": "user", "content": [{"type": "text", "text": text}]})
        self.status("running")

    def action(self, tool, action):
        return self.add("ActionEvent", "agent", 4, thought=[], action=action, tool_name=tool, tool_call_id="c%d" % self.number)

    def observation(self, tool, action_id, observation, wait=2.0):
        self.add("ObservationEvent", "environment", wait, tool_name=tool, tool_call_id="c", observation=observation,
                 action_id=action_id)
        self.stats()

    def run(self, command, output="", code=0, wait=3.0, folder=ROOT):
        action = self.action("terminal", {"command": command, "is_input": False, "reset": False, "kind": "TerminalAction"})
        self.observation("terminal", action, {
            "content": [{"type": "text", "text": output}], "is_error": False, "command": command, "exit_code": code,
            "timeout": code == -1, "metadata": {"exit_code": code, "working_dir": folder}, "kind": "TerminalObservation"}, wait)

    def start(self, command):
        self.action("terminal", {"command": command, "is_input": False, "reset": False, "kind": "TerminalAction"})

    def edit(self, path, old, new, command="str_replace"):
        path = path if path.startswith("/") else ROOT + "/" + path
        action = self.action("file_editor", {"command": command, "path": path, "kind": "FileEditorAction"})
        self.observation("file_editor", action, {
            "content": [{"type": "text", "text": "The file %s has been edited." % path}], "is_error": False,
            "command": command, "path": path, "prev_exist": old is not None, "old_content": old, "new_content": new,
            "kind": "FileEditorObservation"})

    def create(self, path, lines):
        self.edit(path, None, "line\n" * lines, "create")

    def change(self, path, added, removed):
        self.edit(path, "".join("old %d\n" % i for i in range(removed)) + "same\n" * 5,
                  "".join("new %d\n" % i for i in range(added)) + "same\n" * 5)

    def failed_edit(self, path, text, command="str_replace"):
        path = ROOT + "/" + path
        action = self.action("file_editor", {"command": command, "path": path, "kind": "FileEditorAction"})
        self.observation("file_editor", action, {"content": [{"type": "text", "text": text}], "is_error": True,
                                                 "command": command, "kind": "FileEditorObservation"})

    def tool_error(self, tool, text):
        self.add("AgentErrorEvent", "agent", error=text, tool_name=tool, tool_call_id="c")

    def finish(self, words):
        action = self.action("finish", {"message": words, "kind": "FinishAction"})
        self.observation("finish", action, {"content": [{"type": "text", "text": words}], "is_error": False,
                                            "kind": "FinishObservation"}, 0.1)
        self.status("finished")

    def say(self, words):
        self.add("MessageEvent", "agent", 4,
                 llm_message={"role": "assistant", "content": [{"type": "text", "text": words}]})
        self.stats()
        self.status("finished")

    def error(self, code, detail="secret detail", kind=None):
        self.status("error")
        fields = {"classification": {"kind": kind, "retryable": False, "user_action": "none"}} if kind else {}
        self.add("ConversationErrorEvent", "environment", 0.01, code=code, detail=detail, **fields)


class V0:
    """A conversation as OpenHands 0.62 tells it."""

    def __init__(self):
        self.events = []

    def add(self, source, **fields):
        number = len(self.events)
        clock = "2026-11-21T09:%02d:%02d.000000" % (number * 7 // 60, number * 7 % 60)
        self.events.append({"id": number, "source": source, "message": "", **fields, "timestamp": clock})
        return number

    def state(self, state, reason=""):
        self.add("environment", observation="agent_state_changed", content="", extras={"agent_state": state, "reason": reason})

    def user(self, text):
        self.add("user", action="message", args={"content": text, "wait_for_response": False})
        self.state("running")

    def run(self, command, output="", code=0):
        cause = self.add("agent", action="run", args={"command": command, "is_input": False, "thought": ""})
        self.add("agent", cause=cause, observation="run", content=output, success=code == 0, extras={
            "command": command, "hidden": False, "metadata": {"exit_code": code, "working_dir": "/workspace/app"}})

    def edit(self, path, old, new):
        cause = self.add("agent", action="edit", args={"path": "/workspace/app/" + path, "command": "str_replace"})
        self.add("agent", cause=cause, observation="edit", content="edited", extras={
            "path": "/workspace/app/" + path, "prev_exist": old is not None, "old_content": old, "new_content": new})

    def failed(self, text):
        self.add("environment", observation="error", content=text, extras={"error_id": ""})

    def say(self, words):
        self.add("agent", action="message", args={"content": words, "wait_for_response": True})
        self.state("awaiting_user_input")

    def finish(self, words, completed="true"):
        self.add("agent", action="finish", args={"final_thought": words, "task_completed": completed, "outputs": {}})
        self.state("finished")


def pytest_output(failed, passed, test="tests/test_clock.py::test_now"):
    if not failed:
        return "." * 20 + "\n============ %d passed in 3.21s ============" % passed
    return ("F" + "." * 19 + "\n=========== FAILURES ===========\nE   AssertionError: assert 61 == 60\n"
            "=========== short test summary info ===========\nFAILED %s - AssertionError: assert 61 == 60\n"
            "=========== %d failed, %d passed in 3.40s ===========" % (test, failed, passed))


def failing_then_passing():
    c = V1()
    c.user("Fix the flaky clock test")
    c.run("cd %s && pytest -q 2>&1 | tail -20" % ROOT, pytest_output(1, 119))
    c.run("grep -rn 'sleep' tests/", "", 1)
    c.change("src/clock.py", 12, 3)
    c.create("tests/test_clock_zones.py", 40)
    c.run("pytest -q tests/test_clock.py", pytest_output(0, 6))
    c.run("cd %s && pytest -q 2>&1 | tail -20" % ROOT, pytest_output(0, 124))
    c.finish("The clock is frozen in the tests now, so the flaky test no longer depends on the time of day.")
    return c


def still_failing():
    c = V1()
    c.user("Fix the flaky clock test")
    c.run("pytest -q", pytest_output(3, 117))
    c.change("src/clock.py", 4, 2)
    c.run("pytest -q", pytest_output(1, 119))
    c.finish("I fixed two of the three failing tests.")
    return c


def pull_request():
    c = V1()
    c.user("Add a health endpoint and open a PR")
    c.create("server/health.go", 32)
    c.change("server/routes.go", 2, 0)
    c.run("go build ./...", "")
    c.run("go test ./...", "ok  \texample.com/api/server\t0.112s\nok  \texample.com/api/store\t1.204s\n?   \texample.com/api\t[no test files]")
    c.run("git checkout -b add-health && git add -A && git commit -m 'Add /healthz'",
          "Switched to a new branch 'add-health'\n[add-health 4f2c9d1] Add /healthz\n 2 files changed, 34 insertions(+)")
    c.run("git push -u origin add-health", "remote:\nremote: Create a pull request for 'add-health' on GitHub by visiting:\n"
          "remote:      https://github.com/acme/api/pull/new/add-health\nTo github.com:acme/api.git\n"
          " * [new branch]      add-health -> add-health")
    c.run("gh pr create --fill", "Creating pull request for add-health into main in acme/api\n\nhttps://github.com/acme/api/pull/418")
    c.finish("Added `GET /healthz`, which answers 200 once the database can be reached.")
    return c


def pushed_to_existing():
    c = V1()
    c.user("Address the review comments")
    c.run("cat notes.md", "see https://github.com/acme/api/pull/9 and https://github.com/acme/api/pull/12")
    c.change("web/src/app.ts", 20, 8)
    c.change("web/src/app.test.ts", 14, 1)
    c.run("cd web && npm test", "Test Suites: 12 passed, 12 total\nTests:       2 skipped, 119 passed, 121 total\nTime:        8.1 s")
    c.run("cd web && npm run build", "vite v5.0 building for production...\n✓ built in 3.2s")
    c.run("git commit -am 'Review comments'", "[fix/login 9a8b7c6] Review comments\n 2 files changed, 34 insertions(+), 9 deletions(-)")
    c.run("git push", "To github.com:acme/api.git\n   1a2b3c4..9a8b7c6  fix/login -> fix/login")
    c.finish("All four review comments are addressed.")
    return c


def many_files():
    c = V1()
    c.user("Rename Widget to Gadget everywhere")
    for folder, count in (("src/core", 14), ("src/ui", 9), ("tests", 11), ("docs", 4)):
        for i in range(count):
            c.change("%s/file%02d.py" % (folder, i), 3, 3)
    for i in range(3):
        c.create("src/compat/old%d.py" % i, 12)
    c.change("README.md", 2, 2)
    c.run("rm src/core/widget.py", "")
    c.run("ctest --test-dir build -j4", "100% tests passed, 0 tests failed out of 212\n\nTotal Test time (real) =  31.02 sec")
    c.finish("Widget is Gadget now, in code, tests and docs. Old imports go on working through `src/compat`.")
    return c


def long_words():
    c = V1()
    c.user("Make the importer faster")
    c.run("cargo test", "test result: ok. 40 passed; 0 failed; 0 ignored\ntest result: FAILED. 11 passed; 1 failed; 2 ignored", 101)
    c.change("src/import.rs", 120, 64)
    c.change("src/batch.rs", 30, 2)
    c.run("cargo test", "test result: ok. 40 passed; 0 failed; 0 ignored\ntest result: ok. 12 passed; 0 failed; 2 ignored")
    c.run("cargo clippy --all-targets", "    Finished dev [unoptimized + debuginfo] target(s) in 4.20s")
    c.finish("## What I did\n\n1. The importer reads in batches of 500 rows.\n2. The parser no longer copies each field.\n"
             "3. The index is built once, at the end.\n\n## Figures\n\n| rows | before | after |\n|---|---|---|\n"
             "| 10,000 | 4.1 s | 0.6 s |\n| 1,000,000 | 402 s | 51 s |\n\n## What is left\n\nThe CSV reader still "
             "takes a third of the time.")
    return c


def long_question():
    c = V1()
    c.user("Move the sessions to Redis")
    c.run("rg -n session src/", "src/auth.py:12: session = ...")
    c.say("I have looked at how sessions are kept today.\n\nThere are two ways:\n\n- Keep the signed cookies and put only "
          "the data into Redis. Nobody is logged out.\n- Put everything into Redis under a new id. It is simpler, and "
          "everybody has to log in once.\n\nBoth take about the same work.\n\nWhich of the two do you want? I would "
          "take the first.")
    return c


def short_question():
    c = V1()
    c.user("Clean up the config")
    c.say("Which file would you like me to change?")
    return c


def stuck_on_command():
    c = V1()
    c.user("Start the server and check it")
    c.change("server.py", 3, 1)
    for _ in range(4):
        c.run("curl -s localhost:8080/health", "", 7)
    c.status("stuck")
    return c


def stuck_in_turns():
    c = V1()
    c.user("Fix the import")
    for _ in range(3):
        c.run("python -c 'import app'", "Traceback (most recent call last):\n  File \"<string>\", line 1\nModuleNotFoundError: No module named 'app'", 1)
        c.run("pip install app", "ERROR: No matching distribution found for app", 1)
    c.status("stuck")
    return c


def budget_exceeded():
    c = V1()
    c.user("Port the UI to the new design")
    c.change("ui/button.tsx", 44, 40)
    c.change("ui/input.tsx", 31, 25)
    c.run("npx vitest run", " Test Files  1 failed | 11 passed (12)\n      Tests  2 failed | 117 passed (119)\n   Duration  4.1s", 1)
    c.error("MaxBudgetReached", "Agent reached maximum budget limit.", "quota")
    return c


def iterations_used_up():
    c = V1()
    c.user("Fix all lints")
    for i in range(3):
        c.change("src/a%d.py" % i, 5, 5)
    c.run("ruff check .", "src/a9.py:3:1: F401 `os` imported but unused\nFound 14 errors.", 1)
    c.error("MaxIterationsReached", "Agent reached maximum iterations limit (500).", "agent_action")
    return c


def errors_of_each_class():
    c = V1()
    for code, kind in (("LLMAuthenticationError", "auth"), ("LLMRateLimitError", "rate_limit"),
                       ("LLMServiceUnavailableError", "transient"), ("LLMBadRequestError", "config"),
                       ("LLMContextWindowExceedError", None), ("LLMNoResponseError", None), ("UnicodeEncodeError", None),
                       ("SomethingNewError", "internal"), ("SomethingNewError", "unknown"), ("", None)):
        c.user("Go on")
        c.run("ls", "a")
        c.error(code, "litellm.Error: key sk-abc at https://internal.example", kind)
    return c


def v0_errors_of_each_class():
    c = V0()
    for reason in ("STATUS$ERROR_LLM_AUTHENTICATION", "STATUS$ERROR_LLM_SERVICE_UNAVAILABLE",
                   "STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR", "STATUS$ERROR_LLM_OUT_OF_CREDITS",
                   "STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION", "STATUS$ERROR_RUNTIME_DISCONNECTED", "STATUS$ERROR_MEMORY",
                   "CHAT_INTERFACE$AGENT_RATE_LIMITED_STOPPED_MESSAGE",
                   "RuntimeError: Agent reached maximum iteration. Current iteration: 500, max iteration: 500",
                   "RuntimeError: Agent reached maximum budget for conversation. Current budget: 5.01, max budget: 5",
                   "BadRequestError: litellm.BadRequestError: secret text", "ZeroDivisionError: 'secret'"):
        c.user("Go on")
        c.run("ls", "a")
        c.state("error", reason)
        c.state("running")
        c.state("stopped")
    return c


def several_turns():
    c = V1()
    c.user("Add a --json flag")
    c.change("cli.py", 18, 2)
    c.run("pytest tests/test_cli.py", pytest_output(0, 14))
    c.finish("`list` and `show` take `--json` now.")
    c.user("Also for `export`, and document it")
    c.change("cli.py", 6, 1)
    c.change("docs/cli.md", 9, 0)
    c.run("pytest tests/test_cli.py", pytest_output(0, 17))
    c.finish("`export` takes it, too; docs/cli.md has a section.")
    c.user("Thanks! Is there a test for export?")
    c.say("Yes: `test_export_json` in tests/test_cli.py.")
    return c


def push_refused():
    c = V1()
    c.user("Bump the version and push")
    c.change("VERSION", 1, 1)
    c.run("git commit -am 'Bump'", "[main 77aa12c] Bump\n 1 file changed, 1 insertion(+), 1 deletion(-)")
    c.run("git push", "To github.com:acme/api.git\n ! [rejected]        main -> main (fetch first)\n"
          "error: failed to push some refs to 'github.com:acme/api.git'\nhint: Updates were rejected", 1)
    c.change("CHANGELOG.md", 4, 0)
    c.finish("The version is 1.4.0 now.")
    return c


def build_broken():
    c = V1()
    c.user("Upgrade the compiler flags")
    c.change("CMakeLists.txt", 3, 1)
    c.run("cmake --build build -j4", "[1/90] Building CXX object a.o\nFAILED: src/io.cpp.o\n"
          "src/io.cpp:41:12: error: unused variable 'n' [-Werror=unused-variable]\nninja: build stopped: subcommand failed.", 1)
    c.finish("The flags are in place. One file does not compile with them yet; it needs a decision.")
    return c


def failed_edit_only():
    c = V1()
    c.user("Write notes.txt")
    c.failed_edit("notes.txt", "Invalid `path` parameter: %s/notes.txt. File already exists at: %s/notes.txt. Cannot overwrite "
                  "files using command `create`." % (ROOT, ROOT), "create")
    c.run("cat notes.txt | wc -l", "2")
    c.finish("All done: created notes.txt with 2 lines.")
    return c


def failed_edit_recovered():
    c = V1()
    c.user("Fix the typo")
    c.failed_edit("README.md", "No replacement was performed, old_str `teh` did not appear verbatim in %s/README.md." % ROOT)
    c.change("README.md", 1, 1)
    c.tool_error("no_such_tool", "Tool 'no_such_tool' not found. Available: ['terminal']")
    c.finish("The typo is gone.")
    return c


def exploration_only():
    c = V1()
    c.user("How does the login work?")
    c.run("grep -rn login src/ | head", "src/auth.py:3:def login():")
    c.run("ls missing", "ls: cannot access 'missing': No such file or directory", 2)
    c.run("cat src/auth.py", "def login(): ...")
    c.finish("Login checks the password hash and sets a signed cookie for 30 days (src/auth.py).")
    return c


def other_editors():
    """Tools beside the file editor: patches of several files, and tools that write whole files."""
    c = V1()
    c.user("Rename the clock module")
    patch = "*** Begin Patch\n*** Update File: src/time.py\n*** Move to: src/clock.py\n*** End Patch"
    action = c.action("apply_patch", {"patch": patch, "kind": "ApplyPatchAction"})
    c.observation("apply_patch", action, {
        "content": [{"type": "text", "text": "Done!"}], "is_error": False, "message": "Done!", "fuzz": 0,
        "commit": {"changes": {
            "src/time.py": {"type": "update", "old_content": "def now():\n    return 0\n",
                            "new_content": "def now():\n    return 1\n", "move_path": "src/clock.py"},
            "src/main.py": {"type": "update", "old_content": "import time\n", "new_content": "import clock\n",
                            "move_path": None},
            "src/old.py": {"type": "delete", "old_content": "x\n", "new_content": None, "move_path": None}}},
        "kind": "ApplyPatchObservation"})
    action = c.action("apply_patch", {"patch": "*** Begin Patch", "kind": "ApplyPatchAction"})
    c.observation("apply_patch", action, {"content": [{"type": "text", "text": "Invalid patch: must end with '*** End Patch'"}],
                                          "is_error": True, "message": "", "fuzz": 0, "commit": None,
                                          "kind": "ApplyPatchObservation"})
    action = c.action("write_file", {"file_path": "docs/clock.md", "content": "# Clock\n", "kind": "WriteFileAction"})
    c.observation("write_file", action, {
        "content": [], "is_error": False, "file_path": ROOT + "/docs/clock.md", "is_new_file": True, "old_content": None,
        "new_content": "# Clock\n", "kind": "WriteFileObservation"})
    action = c.action("edit", {"file_path": "README.md", "old_string": "time", "new_string": "clock", "kind": "EditAction"})
    c.observation("edit", action, {
        "content": [], "is_error": False, "file_path": ROOT + "/README.md", "is_new_file": False, "replacements_made": 1,
        "old_content": "See time.\n", "new_content": "See clock.\n", "kind": "EditObservation"})
    c.finish("The module is called clock now; imports and docs follow.")
    return c


def words_cut():
    """Words that do not fit: what is missing is said below them."""
    c = V1()
    c.user("Explain everything")
    c.finish("\n".join("Chapter %d tells how part %d works, at length." % (i, i) for i in range(420)))
    return c


def no_sign_of_the_end():
    """The turn stays open: a test run that hangs. What is posted comes by `stopped`."""
    c = V1()
    c.user("Run the long tests")
    c.change("tests/long.py", 3, 3)
    c.start("pytest tests/long.py")
    c.status("deleting")
    return c


def java_and_ruby():
    c = V1()
    c.user("Fix both services")
    c.change("billing/src/main/java/Invoice.java", 12, 4)
    c.run("cd billing && mvn -q verify", "[ERROR] Tests run: 48, Failures: 1, Errors: 0, Skipped: 2\n[ERROR] BUILD FAILURE", 1)
    c.change("billing/src/main/java/Invoice.java", 2, 2)
    c.run("cd billing && mvn -q verify", "[INFO] Tests run: 48, Failures: 0, Errors: 0, Skipped: 2\n[INFO] BUILD SUCCESS")
    c.change("shop/app/models/order.rb", 5, 5)
    c.run("cd shop && bundle exec rspec", "Finished in 3.2 seconds\n97 examples, 0 failures, 3 pending")
    c.run("cd legacy && vendor/bin/phpunit", "Tests: 20, Assertions: 55, Failures: 1.", 1)
    c.finish("Both services are fixed.")
    return c


def very_long():
    c = V1()
    c.user("Work through the backlog")
    for i in range(150):
        c.run("echo item %d" % i, "item %d" % i)
        if i % 3 == 0:
            c.change("src/part%02d/mod%03d.py" % (i % 7, i), 4, 1)
        if i % 10 == 0:
            c.run("pytest -q", pytest_output(1 if i < 140 else 0, 300))
        if i % 25 == 0:
            c.run("git commit -am 'Item %d'" % i, "[backlog %07x] Item %d\n 3 files changed" % (0xabc0000 + i, i))
    c.finish("The backlog is done: 150 items.")
    return c


def mixed_tests():
    c = V1()
    c.user("Make CI green")
    for command, output, code in (
            ("npm run lint", "✖ 3 problems (3 errors, 0 warnings)", 1),
            ("npx tsc --noEmit", "src/a.ts(3,1): error TS2304: Cannot find name 'foo'.", 2),
            ("npx jest", "Tests:       4 failed, 8 passed, 12 total", 1),
            ("go test ./...", "ok  \tx/a\t0.1s\nFAIL\tx/b\t0.2s\nFAIL", 1),
            ("pytest -q tests/unit", pytest_output(0, 90), 0),
            ("make test", "make: *** [test] Error 2", 2)):
        c.run(command, output, code)
    c.change("src/a.ts", 1, 1)
    c.run("npx tsc --noEmit", "")
    c.run("npx jest", "Tests:       12 passed, 12 total")
    c.run("npm run lint", "")
    c.run("go test ./...", "ok  \tx/a\t0.1s\nok  \tx/b\t0.2s")
    c.run("make test", "All good.\n12 passed")
    c.finish("CI should be green.")
    return c


def two_packages():
    c = V1()
    c.user("Upgrade React in both packages")
    c.change("web/package.json", 2, 2)
    c.change("admin/package.json", 2, 2)
    c.run("cd %s/web && npm test 2>&1 | tail" % ROOT, "Tests:       3 failed, 97 passed, 100 total", 0, folder=ROOT + "/web")
    c.run("cd %s/admin && npm test" % ROOT, "Tests:       40 passed, 40 total", 0, folder=ROOT + "/admin")
    c.run("cd %s && make 2>&1 | tail -5" % ROOT, "bundling...\nmake: *** [all] Error 2")
    c.finish("Both packages use React 19.")
    return c


def hostile_texts():
    c = V1()
    c.user("x")
    c.edit(ROOT + "/a`b\n@everyone.py", "a\n", "b\n")
    c.run("pytest `whoami`\n@channel", "E   <script>alert(1)</script> ghp_0123456789abcdefghijABCDEFGHIJ012345", 1)
    c.run("./deploy @all", "error: token ghp_0123456789abcdefghijABCDEFGHIJ012345 refused at https://internal/ @here", 3)
    c.finish("Done, @everyone.")
    return c


def restart_while_working():
    c = V1()
    c.user("Run the migration")
    c.start("python manage.py migrate")
    c.status("error")
    c.tool_error("terminal", "A restart occurred while this tool was in progress. This may indicate a fatal memory error or "
                 "system crash.")
    return c


def v0_fixed():
    c = V0()
    c.user("Fix the flaky clock test")
    c.run("pytest -q", "1 failed", 1)
    c.edit("clock.py", "a\nb\n", "a\nc\nd\n")
    c.run("pytest -q", "12 passed")
    c.finish("The clock test is stable now; 12 tests pass.")
    return c


def v0_partly_done():
    c = V0()
    c.user("Port the three modules")
    c.edit("one.py", None, "x\n" * 30)
    c.failed("ERROR:\nNo replacement was performed, old_str `def two` did not appear verbatim in /workspace/app/two.py.")
    c.finish("Module one is ported; two and three have to wait for the new API.", "partial")
    return c


def v0_rejected():
    c = V0()
    c.user("Delete the production database")
    c.add("agent", action="reject", args={"outputs": {"reason": "I have no access to production."}, "thought": ""})
    c.state("rejected")
    return c


def v0_stuck():
    c = V0()
    c.user("Loop")
    for _ in range(4):
        c.run("ls", "a")
    c.state("error", "AgentStuckInLoopError: Agent got stuck in a loop")
    return c


ALL = (failing_then_passing, still_failing, pull_request, pushed_to_existing, many_files, long_words, long_question,
       short_question, stuck_on_command, stuck_in_turns, budget_exceeded, iterations_used_up, errors_of_each_class,
       v0_errors_of_each_class, several_turns, push_refused, build_broken, failed_edit_only, failed_edit_recovered,
       exploration_only, other_editors, words_cut, no_sign_of_the_end, java_and_ruby, very_long, mixed_tests, two_packages, hostile_texts, restart_while_working,
       v0_fixed, v0_partly_done, v0_rejected, v0_stuck)


def main(folder):
    for make in ALL:
        lines = [json.dumps(event, ensure_ascii=False) for event in make().events]
        (pathlib.Path(folder) / (make.__name__ + ".jsonl")).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
