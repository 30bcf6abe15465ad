"""The house rules as functions: each takes a path in the tree and its text, and yields (line number, complaint).

Patterns that would find themselves in this file are put together from pieces.
"""
import re

MAX_LINES = 450
MAX_FUNCTION_LINES = 70
MAX_MARKDOWN_LINE = 200
MAX_METHODS = 15  # of an interface: its pure virtual functions
# Paths that may break a rule, each with the reason. Keep it short.
ALLOWED = {
    # The one place that asks again and again, with a deadline: what another process shows sends no signal.
    "tests/support/eventually.h": {"waits"},
    # Long tables of samples inside a function, and a configuration file with every key.
    "tests/unit/sinks/format/format.cpp": {"function_length"},
    "tests/unit/sinks/hostile.cpp": {"function_length"},
    "tests/unit/base/config.cpp": {"function_length"},
    # The text of docs/guarantees.md.
    "tests/integration/guarantees/report.cpp": {"words"},
}

# Which rooms' headers a room may include, beside its own and those of its sub-folders (docs/architecture.md). The
# build enforces it too: one room is one library with an include root of its own. Here it is named.
ARROWS = {
    "base/": set(),
    "base/io/": {"base/"},
    "base/process/": {"base/", "base/io/"},
    "schemas/": {"base/"},
    "sinks/": {"base/", "base/io/", "schemas/"},
    "agent/": {"base/", "base/io/", "base/process/"},
    "agent/relay/": {"base/", "base/io/", "schemas/", "agent/"},
    "agent/relay/webhook/": {"base/", "base/io/", "schemas/", "agent/", "agent/relay/"},
    "agent/relay/follow/": {"base/", "base/io/", "schemas/", "agent/", "agent/relay/"},
    "worker/core/": {"base/", "schemas/"},
    "worker/store/": {"base/", "base/io/", "schemas/", "worker/core/"},
    "worker/sources/": {"base/", "base/io/", "schemas/", "agent/", "worker/core/", "worker/store/"},
    "worker/history/": {"base/", "base/io/", "schemas/", "worker/core/"},
    "worker/mysql/": {"base/", "base/io/", "schemas/", "agent/relay/", "worker/core/", "worker/store/",
                      "worker/history/"},
    "worker/observe/": {"base/", "base/io/"},
    "worker/apply/": {"base/", "base/io/", "schemas/", "sinks/", "worker/core/", "worker/store/"},
    "worker/deliver/": {"base/", "base/io/", "schemas/", "sinks/", "worker/core/", "worker/store/"},
    "worker/consume/": {"base/", "base/io/", "schemas/", "worker/core/", "worker/store/", "worker/observe/",
                        "worker/apply/", "worker/deliver/"},
    "worker/agents/": {"base/", "base/io/", "schemas/", "agent/", "worker/core/", "worker/store/", "worker/sources/",
                       "worker/apply/", "worker/deliver/"},
    "worker/serve/": {"base/", "base/io/", "schemas/", "sinks/", "agent/", "worker/core/", "worker/store/",
                      "worker/mysql/", "worker/observe/", "worker/apply/", "worker/deliver/", "worker/consume/",
                      "worker/agents/", "worker/history/"},
}
FOREIGN_TO_CORE = re.compile(r"curl|rdkafka|mysql|mariadb|prometheus|httplib|boost/(asio|beast)|spdlog")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
WAITS = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>:])sleep\(")
# The driver's own transaction calls, and whatever makes it connect again behind our back.
DRIVER = re.compile(r"(->|\.)\s*(commit\s*\(\s*\)|(rollback|reconnect)\s*\()|\bset(AutoCommit|Savepoint)\s*\("
                    r"|OPT_RECONNECT|\bmysql_(commit|rollback|autocommit|reconnect)\b")
DRIVER_HEADER = re.compile(r"cppconn/|mysql_(driver|connection|error)\.h|mysql\.h|mariadb/")
DRIVER_HOME = "base/io/mysql.cpp"
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~$})])/(work|root|home)/")
DISABLED = re.compile(r"boost::unit_test::(disabled|precondition)|\bGTEST_SKIP\b|\bDISABLED_\w")


def is_cpp(path):
    return path.endswith((".cpp", ".h"))


def without_comments(line):
    return re.sub(r"//.*", "", line)


def numbered(text):
    return enumerate(text.split("\n"), 1)


def found(pattern, text, complaint, code_only=False):
    for number, line in numbered(text):
        if pattern.search(without_comments(line) if code_only else line):
            yield number, complaint


def size(path, text):
    count = text.count("\n")
    if is_cpp(path) and count > MAX_LINES:
        yield count, f"{count} lines, at most {MAX_LINES}: one idea per file"


def markdown_lines(path, text):
    """So that a diff can be reviewed. Tables and samples cannot be wrapped."""
    is_sample = False
    for number, line in numbered(text) if path.endswith(".md") else ():
        if line.lstrip().startswith("```"):
            is_sample = not is_sample
        elif not is_sample and len(line) > MAX_MARKDOWN_LINE and not line.lstrip().startswith("|"):
            yield number, f"{len(line)} characters, at most {MAX_MARKDOWN_LINE}: one sentence a line"


def header_form(path, text):
    if path.endswith(".h"):
        if not re.search(r"^#pragma once$", text, re.M):
            yield 1, "a header needs #pragma once"
        if not text.startswith("//"):
            yield 1, "a header starts with a comment that says what it is for"


def room_of(path):
    """The innermost room that holds `path`; None outside all of them (ops/, tests/, worker/ itself)."""
    return max((room for room in ARROWS if path.startswith(room)), key=len, default=None)


def includes(path, text):
    if not is_cpp(path):
        return
    room = room_of(path)
    for number, line in numbered(text):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        if target.startswith(("../", "./")) or "/../" in target:
            yield number, f"include from the tree's root, not {target}"
        if room is None:
            continue
        if quote == '"' and room_of(target) != room and room_of(target) not in ARROWS[room]:
            yield number, f"{room} must not include {target}"
        if room == "worker/core/" and FOREIGN_TO_CORE.search(target):
            yield number, f"the core is pure: it must not know {target}"


def functions(text):
    """(line number, number of lines) of each function body that begins in the first or second column of blocks.

    clang-format decides where braces stand: a body ends with the first closing brace under its first line.
    """
    lines = text.split("\n")
    for end_of_head, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        first = end_of_head
        while first and re.match(r"\s", lines[first]) and not re.search(r"([;{}:]|^\s*//.*|^\s*)$", lines[first - 1]):
            first -= 1
        head = " ".join(part.strip() for part in lines[first:end_of_head + 1])
        indent = re.match(r" *", lines[first])[0]
        if (len(indent) > 4 or "(" not in head or re.match(r"(namespace|class|struct|enum|union|if|for|while|switch|do|"
                                                           r"else|extern|\}|return)\b", head)
                or re.search(r"=\s*(\{|R?\"|$)|=\s*\w*\{$|\{\{$", head)):
            continue
        for last in range(end_of_head + 1, len(lines)):
            if lines[last].startswith(indent + "}"):
                yield first + 1, last - first + 1
                break


def function_length(path, text):
    if is_cpp(path):
        for number, length in functions(text):
            if length > MAX_FUNCTION_LINES:
                yield number, f"a function of {length} lines, at most {MAX_FUNCTION_LINES}: it does too much"


def interface_width(path, text):
    if not path.endswith(".h"):
        return
    for match in re.finditer(r"^class (\w+)[^;{]*\{(.*?)^\};", text, re.M | re.S):
        count = len(re.findall(r"\)[\w ]*= 0;", match[2]))
        if count > MAX_METHODS:
            yield text[: match.start()].count("\n") + 1, f"{match[1]} asks for {count} methods, at most {MAX_METHODS}"


def waits(path, text):
    if is_cpp(path):
        yield from found(WAITS, text, "a sleep in place of a wait", code_only=True)
    elif path.endswith(".py"):
        yield from found(re.compile(r"\btime\.sleep\("), text, "a sleep in place of a wait")
    elif re.match(r"#!.*\b(ba)?sh\b", text):
        yield from found(re.compile(r"(^|[;&|({]|\b(do|then|else))\s*sleep\s"), text, "a sleep in place of a wait")


def driver_calls(path, text):
    if not is_cpp(path) or path.startswith("tests/"):
        return
    yield from found(DRIVER, text, "the MySQL driver swallows this call's errors: send the statement instead",
                     code_only=True)
    for number, line in numbered(text):
        match = INCLUDE.match(line)
        if match and match[1] == "<" and DRIVER_HEADER.match(match[2]) and path != DRIVER_HOME:
            yield number, f"the MySQL driver belongs to {DRIVER_HOME} alone"


# nlohmann's own parser takes any depth, and copying or dumping what it made recurses until the stack is used up.
UNBOUNDED_JSON = re.compile(r"\b(json|Json|basic_json(<[^>]*>)?)::(parse|sax_parse|accept|from_(bson|cbor|msgpack|ubjson|bjdata))"
                            r"\s*\(")
BOUNDED_JSON_HOME = "base/bounded_json.cpp"


def unbounded_json(path, text):
    product = ("agent/", "base/", "ops/cli/", "ops/doctor/", "schemas/", "sinks/", "worker/")
    if is_cpp(path) and path.startswith(product) and path != BOUNDED_JSON_HOME:
        yield from found(UNBOUNDED_JSON, text, f"JSON that others wrote may be hostile: {BOUNDED_JSON_HOME} parses it",
                         code_only=True)


JSON_TEXT_HOME = "base/json_text.cpp"


def json_text(path, text):
    if is_cpp(path) and path != JSON_TEXT_HOME:
        yield from found(re.compile(r"\berror_handler_t\b"), text, f"{JSON_TEXT_HOME} writes JSON as text: json_line, json_indented",
                         code_only=True)


def migrations(path, text):
    """A step of `migrate` adds; workers of the version before it go on with what they know."""
    if path.startswith("schemas/sql/"):
        yield from found(re.compile(r"\b(DROP\s+(TABLE|COLUMN|DATABASE)|TRUNCATE|RENAME\s+(TO|COLUMN|TABLE))\b", re.I), text,
                         "a migration never drops: expand now, contract when no version needs it")


# Words that docs/glossary.md and the field have better ones for. What is published keeps its name (columns, metrics,
# keys): it stands in strings, which are not looked at. A word is not here when the field uses it, too, for another
# thing (rest, line, held, seen, looked, words, kind, log, form, exchange, heal, storm).
BANNED = {
    "ask_leave": "admit", "ask_what_was": "request_reconcile", "assign_again": "reset_assignment",
    "blind": "lookup_failed", "commit_with": "with_committable_offsets", "drop_claim": "reset",
    "duty_of": "next_action", "fenced_code": "Cause::fenced", "find_in_lines": "find_queued",
    "finish_callback": "complete_callback", "freeze_as_it_is": "finalise_without_agent", "hand_on": "dispatch_report",
    "has_untold_end": "is_unseen", "heads_of_line": "queue_heads", "heal_due_at": "dedup_due_at",
    "held_by_others_code": "Cause::held_by_others", "here_alone": "scope_is_target", "in_line_since": "queued_since",
    "keep_request": "save_idempotency_key", "lanes": "queues", "let_go": "release", "let_go_at": "resumed_at",
    "let_offsets_follow": "commit_offsets", "neglected_until": "unattended_until", "return_permit": "release_permit",
    "saw_end": "on_partition_eof", "standing_of": "credential_state", "strikes_in_a_row": "refusals",
    "struck_at": "last_refused_at", "take_bearing": "check_position", "take_permit": "acquire_permit",
    "take_refilled": "partitions_to_resume", "tale_of_work": "a generated conversation", "told_turn": "expected_turn",
    "twin": "duplicate", "twins": "duplicates", "veiled_link": "deceptive_link", "Adder": "FoldStep",
    "AgentWitness": "AgentServerSource", "AgentWord": "AgentMessage", "Bearing": "PositionCheck",
    "CatchUpWhy": "ReconcileReason", "CatchUps": "Reconciler", "ClaimWanted": "NeedsClaim", "Deed": "FaultAction",
    "Desk": "FakePlatform", "Errand": "Purpose", "EveryTenSeconds": "RateLimitedLog",
    "ForeignCallback": "UnadoptedCallback", "KafkaStart": "OffsetReset", "KeptRequest": "IdempotentRequest",
    "LabScene": "LabScenario", "Lane": "PartitionQueue", "Lanes": "PartitionQueues", "LogSight": "LogState",
    "LookDue": "VerifyLogDue", "Mischief": "PlantedFault", "Mishap": "ReportedError", "PaceRows": "RateLimitRows",
    "Probe": "HttpEndpoints", "RateWord": "RateSignal", "Reception": "ResponseBuffer",
    "RecordPrint": "RecordFingerprint", "RecordsReady": "BatchReady", "Sighting": "LookupResult", "StandIn": "Fake…",
    "Standing": "TurnState", "StartAt": "OffsetReset", "Storyteller": "ConversationGenerator",
    "Testimony": "FinalMessageReply", "TimerNear": "TimersDue", "TokenReport": "TokenStatus",
    "TwinCheck": "DuplicateCheck", "Upkeep": "Housekeeping", "Witness": "FinalMessageSource",
}
# The same for names alone: in a comment they are plain English.
BANNED_NAMES = {
    "arrive": "start_watching", "cleaned": "strip_unsafe", "defused": "neutralise", "fitted": "truncate",
    "forgive": "record_success", "last_end": "unreported_end", "look_at": "inspect_log",
    "programme": "a list of scenarios", "put_back": "requeue", "recover": "replay_agent_log",
    "rehearsal": "a trial run", "silence": "inactivity", "stay": "unchanged", "strike": "record_refusal",
    "was_untold": "was_unseen", "Application": "FoldStep", "Audit": "Verifier", "Board": "CommentStore",
    "Cue": "ScheduledEvent", "Doubt": "ShortLogDoubt", "Duty": "NextAction", "Gate": "HeldRequest",
    "Leave": "Admission", "May": "Permission", "Move": "PositionReset", "Play": "DemoRunner",
    "Question": "FinalMessageQuery", "Room": "what it is room for", "Said": "RateLimitedLog", "Scene": "Scenario",
    "Screen": "Terminal", "Script": "Fault", "Stage": "DemoEnvironment", "Story": "Scenario",
    "Talk": "a generated conversation", "Unread": "LogReadError", "Word": "AgentMessage",
}
BANNED_WORD = re.compile(r"\b(" + "|".join(BANNED) + r")\b")
BANNED_NAME = re.compile(r"\b(" + "|".join(BANNED_NAMES) + r")\b")
ACTOR = re.compile(r"//.*\b(nobody|somebody|whoever)\b", re.I)
STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def words(path, text):
    """One word, one thing, and the field's own where there is one; comments say who does what."""
    if not is_cpp(path):
        return
    for number, line in numbered(text):
        bare = STRING.sub('""', line)
        for match in BANNED_WORD.finditer(bare):
            yield number, f"{match[1]} is called {BANNED[match[1]]}"
        for match in BANNED_NAME.finditer(without_comments(bare)):
            yield number, f"{match[1]} is called {BANNED_NAMES[match[1]]}"
        if ACTOR.search(bare):
            yield number, "say who does what: an operator, a worker, a client, no process"


def unfinished(path, text):
    yield from found(UNFINISHED, text, "unfinished work belongs into an issue")


def machine_paths(path, text):
    yield from found(MACHINE_PATH, text, "a path of somebody's machine")


def disabled_tests(path, text):
    """Except a case that another case runs in a process of its own, and that says so above itself."""
    if is_cpp(path):
        before = ""
        for number, line in numbered(text):
            if DISABLED.search(without_comments(line)) and not before.startswith("// Only started by "):
                yield number, "a disabled test proves nothing"
            before = line


DECLARATION = re.compile(r"^(?P<indent> {0,4})(?=\S)(?!return\b|using\b|friend\b|typedef\b|throw\b|else\b|explicit\b|//|#|})"
                         r"[\w:<>,&*\[\] ]+[ &*>](?P<name>\w+)\([^;{]*\)[\w &>:<,*()-]*;$")


def public_comments(path, text):
    """A block of lines without a gap that declares functions for others must hold a /// comment.

    Constructors, overrides and bodies of one line speak for themselves or are explained elsewhere.
    """
    if not path.endswith(".h") or not path.startswith(("agent/", "base/", "schemas/", "sinks/", "worker/")):
        return
    access, block_start, names, documented = "public", 0, [], False
    for number, line in numbered(text + "\n"):
        if re.match(r"^class \w+[^;]*\{", line):
            access = "private"
        elif re.match(r"^(struct|enum|union|namespace|\};|\})", line):
            access = "public"
        if re.match(r"^ *(public|protected|private):$", line):
            access = line.strip(" :")
        if not line.strip():
            if names and not documented:
                yield block_start, f"say what {names[0]} takes and returns (///)"
            names, documented, block_start = [], False, number + 1
            continue
        documented = documented or "///" in line
        match = DECLARATION.match(line)
        own = match and not re.search(r"\b(override|default|delete|operator)\b", line)
        if own and (len(match["indent"]) == 0 or access == "public"):
            names.append(match["name"])


# tests/data and tests/golden hold recorded conversations and printed tables: not our words.
RULES = [size, function_length, interface_width, header_form, includes, waits, driver_calls, unbounded_json, json_text, migrations, words,
         unfinished, machine_paths, disabled_tests, public_comments, markdown_lines]


def is_judged(path):
    return not path.startswith(("tests/data/", "tests/golden/", "LICENSE"))


def complaints(path, text):
    """All broken rules of one file, as "path:line: what" lines."""
    if not is_judged(path):
        return []
    return [f"{path}:{number}: {what}" for rule in RULES for number, what in rule(path, text)
            if rule.__name__ not in ALLOWED.get(path, ())]
