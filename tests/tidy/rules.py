"""The house rules as functions: each takes a path in the tree and its text, and yields (line number, complaint).

Patterns that would find themselves in this file are put together from pieces.
"""
import re

MAX_LINES = 500
# Paths that may break a rule, each with the reason. Keep it short.
ALLOWED = {
    # The one place that asks again and again, with a deadline: what another process shows sends no signal.
    "tests/support/eventually.h": {"waits"},
}

# Which folders' headers a folder may include (docs/architecture.md). The build enforces it too; here it is named.
ARROWS = {
    "base/": {"base/"},
    "base/io/": {"base/", "base/io/"},
    "schemas/": {"base/", "schemas/"},
    "worker/core/": {"base/", "schemas/", "worker/core/"},
    "agent/": {"agent/", "base/", "base/io/", "base/process/"},
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


def header_form(path, text):
    if path.endswith(".h"):
        if not re.search(r"^#pragma once$", text, re.M):
            yield 1, "a header needs #pragma once"
        if not text.startswith("//"):
            yield 1, "a header starts with a comment that says what it is for"


def includes(path, text):
    if not is_cpp(path):
        return
    folder = max((f for f in ARROWS if path.startswith(f)), key=len, default=None)
    for number, line in numbered(text):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        if target.startswith(("../", "./")) or "/../" in target:
            yield number, f"include from the tree's root, not {target}"
        if folder is None:
            continue
        if quote == '"' and target[: target.rfind("/") + 1] not in ARROWS[folder]:
            yield number, f"{folder} must not include {target}"
        if folder == "worker/core/" and FOREIGN_TO_CORE.search(target):
            yield number, f"the core is pure: it must not know {target}"


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
RULES = [size, header_form, includes, waits, driver_calls, unfinished, machine_paths, disabled_tests, public_comments]


def is_judged(path):
    return not path.startswith(("tests/data/", "tests/golden/", "LICENSE"))


def complaints(path, text):
    """All broken rules of one file, as "path:line: what" lines."""
    if not is_judged(path):
        return []
    return [f"{path}:{number}: {what}" for rule in RULES for number, what in rule(path, text)
            if rule.__name__ not in ALLOWED.get(path, ())]
