#!/usr/bin/env python3
"""Tiny OpenAI-compatible LLM for tests and `epilogue demo --real`: POST /v1/chat/completions, loopback only, stdlib only.

The `model` field picks a script ("openai/lab-<script>" at the agent = "lab-<script>" here).  The answer is a pure
function of the request: step number = count of assistant messages already in the request.  So a retried or replayed
request gets the same answer, and a restarted fake needs no state.

    python3 scripted_llm.py PORT [LOGFILE]
"""
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONE = "\ud83d"          # a lone surrogate: legal in a JSON escape, not encodable as UTF-8


def tool(name, delay=0.0, text="", **args):
    return {"calls": [(name, args)], "text": text, "delay": delay}


def say(text, delay=0.0, **kw):
    return {"calls": [], "text": text, "delay": delay, **kw}


def http(status, body, delay=0.0):
    return {"status": status, "body": body, "delay": delay}


def term(cmd, **kw):
    return tool("terminal", command=cmd, **kw)


def finish(msg, **kw):
    return tool("finish", message=msg, **kw)


def oai_error(message, typ, code):
    return {"error": {"message": message, "type": typ, "param": None, "code": code}}


WORK = "{WORK}"          # replaced by the working directory named in the user's message ("workdir=/...")
BASIC = [
    term("echo hello from the lab && uname -s", text="I'll look around first."),
    tool("file_editor", command="create", path=WORK + "/notes.txt", file_text="line one\nline two\n"),
    term("cat notes.txt | wc -l"),
    finish("All done: created notes.txt with 2 lines."),
]
SCRIPTS = {
    # For people who look on: `epilogue demo --real` puts total.sh and test.sh there.
    "demo": [
        term("cat total.sh && sh test.sh", text="I'll run the test first, to see what fails.", delay=1.0),
        tool("file_editor", command="str_replace", path=WORK + "/total.sh", old_str="8 9;", new_str="8 9 10;",
             text="The loop stops at 9, one too early.", delay=1.5),
        term("sh test.sh", delay=1.5),
        finish("The loop in total.sh stopped at 9. It goes to 10 now, and the test passes: the total is 55.", delay=1.0),
    ],
    "finish": BASIC,
    "message": [term("ls -la"), say("Which file would you like me to change?"), finish("Changed it.")],
    "followup": BASIC + [say("Summary: I ran three commands and created notes.txt (2 lines)."),
                         finish("Summary by finish tool: notes.txt created.")],
    "llm500": [term("echo before the failure"), http(500, oai_error("lab: backend exploded", "server_error", None))],
    "llm400": [term("echo before the failure"),
               http(400, oai_error("lab: bad request", "invalid_request_error", "bad_request"))],
    "llm401": [http(401, oai_error("Incorrect API key provided: lab", "invalid_request_error", "invalid_api_key"))],
    "llm429": [http(429, oai_error("lab: rate limit", "rate_limit_error", "rate_limit_exceeded"))],
    "llmctx": [http(400, oai_error("This model's maximum context length is 8192 tokens. However, your messages "
                                   "resulted in 9000 tokens.", "invalid_request_error", "context_length_exceeded"))],
    "llmgarbage": [http(200, "this is not json")],
    "stuck": [term("echo same thing again") for _ in range(40)],
    "stuckalt": [term("echo A") if i % 2 else term("echo B") for i in range(40)],
    "empty": [say("") for _ in range(12)],
    "badtool": [tool("no_such_tool", x=1), {"calls": [("terminal", {"bogus": True})], "text": "", "delay": 0.0},
                finish("Recovered after two tool errors.")],
    "parallel": [{"calls": [("terminal", {"command": "echo one"}), ("terminal", {"command": "echo two"}),
                            ("think", {"thought": "two commands at once"})], "text": "Doing two things.", "delay": 0},
                 finish("Both done.")],
    "slow": [term("echo step %d" % i, delay=2.0) for i in range(4)] + [finish("Slow run done.", delay=1.0)],
    "slowfollow": [term("echo step %d" % i, delay=2.0) for i in range(3)] + [finish("First part done.", delay=2.0)]
                  + [finish("Second part done.", delay=0.5)],
    "burst": [term("echo iteration %d; seq 1 %d" % (i, 20 + i)) for i in range(60)] + [finish("60 commands run.")],
    "big": [term("seq 1 60000", text="Printing a lot."), term("head -c 300000 /dev/zero | tr '\\0' x"),
            tool("file_editor", command="create", path=WORK + "/big.txt", file_text="0123456789abcdef" * 12500),
            finish("Big output done.")],
    "unicode": [term("printf 'caf\\xc3\\xa9 \\xf0\\x9f\\x9a\\x80 \\x1b[31mred\\x1b[0m \\xff\\xfe end\\n'"),
                term("printf 'tab\\there nul:\\0: bell:\\a: cr\\rover\\n'"),
                finish("Fertig \U0001f680 — \u201cquoted\u201d \u2028 line-sep, <b>&amp;</b> *md* `code` @channel <!here>")],
    "surrogate": [term("echo before"), finish("broken emoji " + LONE + " in the finish message")],
    "surrogatemsg": [term("echo before"), say("broken emoji " + LONE + " in a plain message")],
    "maxiter": [term("echo iteration %d" % i) for i in range(40)],
    "think": [tool("think", thought="Considering options."), finish("Thought about it.")],
    "finishfirst": [finish("Nothing to do.")],
    "finishplus": [{"calls": [("terminal", {"command": "echo with finish"}), ("finish", {"message": "Finished in a "
                   "parallel call."}), ("terminal", {"command": "echo AFTER finish"})], "text": "", "delay": 0}],
    "hang": [say("Too late.", delay=600)],
    "goal": [term("echo first round"), finish("First round."), term("echo second round"), finish("Second round.")],
    "longcmd": [term("sleep 8; echo slept"), finish("Slept.")],
}
LOCK = threading.Lock()
LOG = None
COUNT = {}
STEPS = {}   # the requests that offer tools: an agent's own


def text_of(content):
    if isinstance(content, str):
        return content
    return " ".join(p.get("text", "") for p in content or [] if isinstance(p, dict))


def verdict(request):
    """A judge of goals, who is never content with the first round, and takes longer than an end may settle."""
    done = "The goal is NOT yet complete" in request
    return say(json.dumps({"score": 1.0 if done else 0.3, "complete": done, "missing": "" if done else "A proof."}),
               delay=4.0)


def answer(req):
    name = req.get("model", "").rsplit("lab-", 1)[-1]
    script = SCRIPTS.get(name, BASIC)
    msgs = req.get("messages", [])
    last = text_of(msgs[-1].get("content")) if msgs else ""
    everything = " ".join(text_of(m.get("content")) for m in msgs if m.get("role") == "user")
    if "<QUESTION>" in last:
        return say("ASK-ANSWER: the agent created notes.txt and ran commands.", delay=600 if name == "hang" else 0.2)
    if "title" in last.lower() and not req.get("tools"):
        return say("Lab conversation title")
    if "<objective>" in last and not req.get("tools"):
        return verdict(last)
    step = sum(1 for m in msgs if m.get("role") == "assistant")
    s = script[step] if step < len(script) else finish("Script exhausted at step %d." % step)
    work = everything.split("workdir=")[1].split()[0] if "workdir=" in everything else "/tmp"
    return json.loads(json.dumps(s).replace(WORK, work))


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def reply(self, status, body):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [], "steps": STEPS})

    def do_POST(self):
        req = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        s = answer(req)
        model = req.get("model", "?")
        with LOCK:
            COUNT[model] = COUNT.get(model, 0) + 1
            n = COUNT[model]
            STEPS[model] = STEPS.get(model, 0) + bool(req.get("tools"))
            if LOG:
                LOG.write(json.dumps({"t": time.time(), "model": model, "n": n, "messages": len(req.get("messages", [])),
                                      "stream": req.get("stream", False), "status": s.get("status", 200)}) + "\n")
                LOG.flush()
        threading.Event().wait(float(s.get("delay") or 0))
        if "status" in s:
            return self.reply(s["status"], s["body"])
        msg = {"role": "assistant", "content": s["text"] or None}
        if s["calls"]:
            msg["tool_calls"] = [{"id": "call_%s_%d_%d" % (model.rsplit("-", 1)[-1], n, i), "type": "function",
                                  "function": {"name": name, "arguments": json.dumps(args)}}
                                 for i, (name, args) in enumerate(s["calls"])]
        self.reply(200, {"id": "chatcmpl-%s-%d" % (model, n), "object": "chat.completion", "created": int(time.time()),
                         "model": model, "choices": [{"index": 0, "message": msg, "finish_reason":
                                                      "tool_calls" if s["calls"] else "stop"}],
                         "usage": {"prompt_tokens": 100 + n, "completion_tokens": 20, "total_tokens": 120 + n}})


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 18732
    LOG = open(sys.argv[2], "a") if len(sys.argv) > 2 else None
    ThreadingHTTPServer(("127.0.0.1", port), H).serve_forever()
