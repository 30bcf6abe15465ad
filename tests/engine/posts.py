"""Recorded conversations that are published to the stack, and what becomes of them at the fake GitHub."""
import json
import uuid

from engine import ROOT, Failure, compose, say, wait_until

RECORDINGS = ROOT / "tests/data/recordings"
REPO = "octo/engine"


def read(name):
    """The JSON lines of a file of the recordings. (`splitlines` ends a line at characters that JSON may hold.)"""
    return [json.loads(line) for line in (RECORDINGS / name).read_text().split("\n") if line]


class Conversation:
    """A recording, and the issue that is to hear of its one turn."""

    def __init__(self, number, recording, identity):
        self.issue = f"{REPO}#{number}"
        self.number, self.identity = number, identity or uuid.uuid4().hex
        expected = [one for one in read("expected.jsonl") if one["recording"] == recording]
        (self.text,) = [turn["text"] for one in expected for turn in one["turns"]]
        self.events = [line for line in read(recording) if {"kind", "action", "observation"} & line.keys()]

    def lines(self):
        return "".join(json.dumps({"conversation_id": self.identity, "event": event}) + "\n" for event in self.events)


class Posts:
    def __init__(self, github):
        self.github = github
        self.conversations = []

    def make(self, count, recording="v0/finish.jsonl", identity=None):
        """So many new conversations, with a callback each that is registered in a worker's container."""
        made = [Conversation(len(self.conversations) + 1 + i, recording, identity) for i in range(count)]
        words = "".join(f"{one.identity} {json.dumps({'repo': REPO, 'number': one.number})}\n" for one in made)
        compose("exec", "-T", "worker", "bash", "-euc",
                "while read -r id place; do epilogue callbacks add --conversation $id --processor github"
                " --processor-json \"$place\" --mode every_turn </dev/null; done", stdin=words)
        self.conversations += made
        return made

    def check(self, within_s=180):
        """Each conversation has its post, no issue has two, and the ledger says of each that it was sent."""
        def all_there():
            return self.github.bodies().keys() >= {one.issue for one in self.conversations}

        wait_until(f"{len(self.conversations)} posts", all_there, within_s)
        wait_until("the ledger has all of them as sent", self.all_sent, within_s)
        found = self.github.bodies()
        for one in self.conversations:
            if len(found[one.issue]) != 1 or one.text not in found[one.issue][0]:
                raise Failure(f"{one.issue}: {found[one.issue]}, expected once: {one.text}")
        if len(found) != len(self.conversations):
            raise Failure(f"posts at {sorted(found)}, which nobody asked for")
        say(f"{len(found)} posts, each once")

    def all_sent(self):
        listed = json.loads(compose("exec", "-T", "worker", "epilogue", "deliveries", "list", "--json", within_s=60))
        return [row["state"] for row in listed] == ["SENT"] * len(self.conversations)


def publish(conversations, *command):
    """`epilogue publish` by this compose command, e.g. ("exec", "-T", "worker")."""
    lines = "".join(one.lines() for one in conversations)
    compose(*command, stdin=lines)
