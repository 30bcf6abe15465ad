#!/usr/bin/env python3
"""What the RemoteConversation of OpenHands' own SDK makes of conversations.

    python_client.py ROWS     a JSON array of {"name", "server", "llm", "script", "work", "limit_s", "between"?}

Creates them, prints "ready" and runs them side by side, each with one message and one run; one that has "between" prints its name then, waits for
that file, and does both again. At its end each prints its result as an object of JSON in one line.
"""
import json
import os
import sys
import threading

import httpx
import openhands.tools.file_editor  # noqa: F401  registers the tool
import openhands.tools.terminal  # noqa: F401
from openhands.sdk import LLM, Agent, RemoteConversation, Tool
from openhands.sdk.workspace import RemoteWorkspace
from pydantic import SecretStr

KEY = "lab-key"
PATIENCE_S = 300
ENDS = ("finished", "error", "stuck")


def eventually(condition, seconds):
    """Asks until the condition holds, or for so long. Returns whether it held."""
    return any(condition() or threading.Event().wait(0.1) for _ in range(int(seconds * 10)))


class Row:
    def __init__(self, row):
        self.row = row
        self.told = []
        llm = LLM(model="openai/lab-" + row["script"], api_key=SecretStr("fake"), base_url=row["llm"],
                  usage_id="agent", num_retries=0)
        agent = Agent(llm=llm, tools=[Tool(name="terminal"), Tool(name="file_editor")])
        workspace = RemoteWorkspace(host=row["server"], api_key=KEY, working_dir=row["work"])
        self.conversation = RemoteConversation(agent=agent, workspace=workspace, visualizer=None,
                                               callbacks=[lambda event: self.told.append(event.id)])

    def ask(self, tail=""):
        """The server's own answer about the conversation."""
        return httpx.get(f"{self.row['server']}/api/conversations/{self.conversation.id}{tail}",
                         headers={"X-Session-API-Key": KEY}, timeout=PATIENCE_S).json()

    def log(self):
        """The ids of the server's log."""
        ids, page = [], ""
        while page is not None:
            answer = self.ask("/events/search?limit=100" + page)
            ids += [event["id"] for event in answer["items"]]
            page = answer["next_page_id"] and "&page_id=" + answer["next_page_id"]
        return ids

    def turn(self):
        """One message and its run. Returns what run() raised."""
        self.conversation.send_message("Please do the lab task. workdir=" + self.row["work"])
        while True:
            try:
                self.conversation.run(timeout=self.row["limit_s"], poll_interval=0.5)
            except Exception as error:
                return str(error)
            # It takes the `idle` before a run for the end of one.
            if self.ask()["execution_status"] in ENDS:
                return ""

    def result(self):
        raised = self.turn()
        if "between" in self.row:
            print(self.row["name"], flush=True)
            eventually(lambda: os.path.exists(self.row["between"]), PATIENCE_S)
            raised = self.turn()
        # It may have them a little later.
        eventually(lambda: set(self.log()) <= {event.id for event in self.conversation.state.events}, 2)
        listed = [event.id for event in self.conversation.state.events]
        return {"raised": raised, "missed": len(set(self.log()) - set(listed)),
                "doubled": len(listed) - len(set(listed)), "told": len(self.told)}


def run(row):
    try:
        result = row.result()
    except Exception as error:
        result = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps({"name": row.row["name"]} | result), flush=True)


# One after the other: its models cannot be made by several threads.
rows = [Row(row) for row in json.loads(sys.argv[1])]
print("ready", flush=True)
threads = [threading.Thread(target=run, args=(row,)) for row in rows]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
os._exit(0)  # the client's own threads do not end by themselves
