#!/usr/bin/env python3
"""What the RemoteConversation of OpenHands' own SDK makes of conversations.

    python_client.py ROWS     a JSON array of {"name", "server", "llm", "script", "work", "limit_s",
                              "goal"?, "hook"?, "between"?, "turns"?, "go_on"?}

Creates them, prints "ready" and runs them side by side, each with one message (or one `/goal`) and one run; one that has
"between" prints its name then, waits for that file, and does both again. One that has "turns" does both so many times,
each after the file "go_on" + number is there, and prints "<name> <number> <when run() returned>" after each.
At its end each prints its result as an object of JSON in one line.
"""
import json
import os
import sys
import threading
import time

import httpx
import openhands.tools.file_editor  # noqa: F401  registers the tool
import openhands.tools.terminal  # noqa: F401
from openhands.sdk import LLM, Agent, RemoteConversation, Tool
from openhands.sdk.workspace import RemoteWorkspace
from pydantic import SecretStr

KEY = "lab-key"
PATIENCE_S = 300
ENDS = ("finished", "error", "stuck")

SAYING = threading.Lock()


def say(*words):
    """Prints a line, whole: print() writes the end of a line by itself, and rows end side by side."""
    with SAYING:
        print(*words, flush=True)


def eventually(condition, seconds, every=0.1):
    """Asks until the condition holds, or for so long. Returns whether it held."""
    return any(condition() or threading.Event().wait(every) for _ in range(int(seconds / every)))


def extras_of(row):
    """What the constructor takes of the row; older clients know nothing of hooks."""
    if "hook" not in row:
        return {}
    from openhands.sdk.hooks import HookConfig
    hook = {"type": "command", "command": row["hook"], "timeout": 60}
    return {"hook_config": HookConfig.model_validate({"stop": [{"matcher": "*", "hooks": [hook]}]})}


class Row:
    def __init__(self, row):
        self.row = row
        self.failed = ""
        llm = LLM(model="openai/lab-" + row["script"], api_key=SecretStr("fake"), base_url=row["llm"],
                  usage_id="agent", num_retries=0)
        agent = Agent(llm=llm, tools=[Tool(name="terminal"), Tool(name="file_editor")])
        workspace = RemoteWorkspace(host=row["server"], api_key=KEY, working_dir=row["work"])
        try:
            self.conversation = RemoteConversation(agent=agent, workspace=workspace, visualizer=None, **extras_of(row))
        except Exception as error:
            self.failed = type(error).__name__

    def call(self, method, tail="", **more):
        """The server's own answer about the conversation."""
        return httpx.request(method, f"{self.row['server']}/api/conversations/{self.conversation.id}{tail}",
                             headers={"X-Session-API-Key": KEY}, timeout=PATIENCE_S, **more).json()

    def log(self):
        """The ids of the server's log."""
        ids, page = [], ""
        while page is not None:
            answer = self.call("GET", "/events/search?limit=100" + page)
            ids += [event["id"] for event in answer["items"]]
            page = answer["next_page_id"] and "&page_id=" + answer["next_page_id"]
        return ids

    def turn(self):
        """One message, or goal, and its run. Returns what run() raised, and when it was over."""
        if "goal" in self.row:
            self.call("POST", "/goal", json={"objective": self.row["goal"], "max_iterations": 5})
            eventually(lambda: self.call("GET")["execution_status"] == "running", PATIENCE_S, 0.02)
        else:
            self.conversation.send_message("Please do the lab task. workdir=" + self.row["work"])
        while True:
            try:
                self.conversation.run(timeout=self.row["limit_s"])
            except Exception as error:
                return str(error), time.time()
            over = time.time()
            # The oldest one takes the `idle` before a run for the end of one.
            if self.call("GET")["execution_status"] != "idle":
                return "", over

    def result(self):
        if self.failed:
            return {"failed": self.failed}
        for number in range(self.row.get("turns", 0)):
            eventually(lambda: os.path.exists(self.row["go_on"] + str(number)), PATIENCE_S, 0.02)
            raised, over = self.turn()
            say(self.row["name"], number, over)
        if "turns" in self.row:
            return {"id": str(self.conversation.id)}
        raised, over = self.turn()
        if "between" in self.row:
            say(self.row["name"])
            eventually(lambda: os.path.exists(self.row["between"]), PATIENCE_S)
            raised, over = self.turn()
        # It may have them a little later.
        eventually(lambda: set(self.log()) <= {event.id for event in self.conversation.state.events}, 5)
        return {"id": str(self.conversation.id), "raised": raised, "over": over,
                "listed": [event.id for event in self.conversation.state.events]}


def run(row):
    try:
        result = row.result()
    except Exception as error:
        result = {"failed": type(error).__name__}
    say(json.dumps({"name": row.row["name"]} | result))


# One after the other: its models cannot be made by several threads.
rows = [Row(row) for row in json.loads(sys.argv[1])]
say("ready")
threads = [threading.Thread(target=run, args=(row,)) for row in rows]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
os._exit(0)  # the client's own threads do not end by themselves
