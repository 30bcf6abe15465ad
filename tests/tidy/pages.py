"""What docs/ and comments say of each other and of the tests, as functions over text.

A file that a page names is there. A citation is a section sign and a number ("contract", a blank, the sign, "4a"); a proof is a code span that starts
with PROVED_BY. The sign is spelled by its number here, so that this file cites nothing.
"""
import json
import posixpath
import re
import subprocess

SIGN = "\u00a7"
NUMBER = r"\d+(?:\.\d+)*[a-z]?"
CITATION = re.compile(f"{SIGN}({NUMBER})")
HEADING = re.compile(rf"^#+ ({NUMBER})\.? ", re.M)
# What may stand right before the sign; the words are pages of docs/.
PAGE = re.compile(r"(RFC \d+|[\w./-]+\.md|\b(?:contract|architecture|sinks))[)\]`*]*\s+$", re.I)
COMMENT_MARK = re.compile(r"^(\s*)(//[/!]?<?|#+|--|\*)(?=\s|$)", re.M)
SENTENCE_END = re.compile(r"\n\s*\n|[.;?!]\s")
PROVED_BY = "proved by: "
PROOF = re.compile(rf"`{PROVED_BY}([^`]+)`")
BLOCK = re.compile(r"^ *```.*?^ *```", re.M | re.S)
SPAN = re.compile(r"`([\w.,{}/-]+)`")
LINK = re.compile(r"\]\(([\w./-]+)\)")
CASE = re.compile(r"\bBOOST_(?:AUTO|FIXTURE|DATA)_TEST_(?:CASE|CASE_F|SUITE)\(\s*(\w+)")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def headings(text):
    """The numbers of a page's sections."""
    return set(HEADING.findall(text))


def citations(path, text):
    """(line, page, number) of each: the page as it is written, in lower case; None when nobody can tell.

    A list goes on with the page that it began with; a bare number in a page of docs/ means that page.
    """
    bare = COMMENT_MARK.sub(lambda mark: " " * len(mark[0]), text)
    own = path if path.startswith("docs/") else None
    last = None  # end and page of the citation before
    for found in CITATION.finditer(bare):
        named = PAGE.search(bare, max(0, found.start() - 200), found.start())
        if named:
            page = named[1].lower()
        elif last and not SENTENCE_END.search(bare, last[0], found.start()):
            page = last[1]
        else:
            page = own
        last = (found.end(), page)
        yield line_of(text, found.start()), page, found[1]


def file_of(page):
    """Where a cited page is in the tree; None: it is none of ours."""
    if page.startswith("rfc "):
        return None
    if not page.endswith(".md"):
        page += ".md"
    return page if "/" in page else f"docs/{page}"


def wrong_citations(path, text, read):
    """Complaints. `read` gives the text of a file of the tree, or None."""
    for line, page, number in citations(path, text):
        place = f"{path}:{line}: {SIGN}{number}"
        if page is None:
            yield f"{place} is a section of no page: say which"
            continue
        cited = file_of(page)
        if cited is None:
            continue
        there = read(cited)
        if there is None:
            yield f"{place} of {page}: there is no {cited}"
        elif number not in headings(there):
            yield f"{place}: {cited} has no such section"


def spellings(span):
    """What a span with braces stands for: "a.{h,cpp}" is two files."""
    braces = re.search(r"\{([^{}]*)\}", span)
    if not braces:
        return [span]
    return [whole for part in braces[1].split(",")
            for whole in spellings(span[: braces.start()] + part + span[braces.end():])]


def named_files(path, text):
    """(line, path from the root) of each file or folder that a page names: code spans that are a path and nothing
    else, and links. Blocks of code are left out: what they name may have to be made first.
    """
    bare = BLOCK.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    for found in SPAN.finditer(bare):
        if "/" in found[1] and "NNN" not in found[1]:
            yield from ((line_of(text, found.start()), one) for one in spellings(found[1]))
    for found in LINK.finditer(bare):
        yield line_of(text, found.start()), posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1]))


def wrong_files(path, text, tracked):
    """Complaints. `tracked` holds the tree's files; a name may stand for a folder, or leave out the ending."""
    if not path.endswith(".md"):
        return
    folders = {one.split("/")[0] for one in tracked if "/" in one}
    for line, named in named_files(path, text):
        name = named.rstrip("/")
        if "/" in named and name.split("/")[0] not in folders:
            continue
        if not any(one == name or one.startswith((name + "/", name + ".")) for one in tracked):
            yield f"{path}:{line}: there is no {named}"


def rules(text, facts=()):
    """(line, text) of each rule: the bullets, and the rows of tables whose last column is headed "proved by".

    `facts`: numbers of sections whose bullets are no rules of ours.
    """
    lines = text.split("\n")
    section, fenced, proves, start = "", False, False, None
    for number, line in enumerate(lines + [""], 1):
        if start is not None and not line.startswith("  "):
            yield start, "\n".join(lines[start - 1:number - 1])
            start = None
        fenced ^= line.startswith("```")
        if fenced:
            continue
        if heading := re.match(r"## (\S+?)\.? ", line):
            section = heading[1]
        if line.startswith("- ") and section not in facts:
            start = number
        if not line.startswith("|"):
            proves = False
        elif line.rstrip(" |").endswith("| proved by"):
            proves = True
        elif proves and not line.startswith("| ---"):
            yield number, line


# A suite on a release of the agent server: its file knows no release.
VERSION = re.compile(r"_\d+\.\d+\.\d+$")


def wrong_rules(path, text, tests, cases, facts=()):
    """Complaints about the proofs of one page. `tests`: ctest's names. `cases`: the test cases of each suite that has any."""
    wrong = []
    for line, rule in rules(text, facts):
        place = f"{path}:{line}"
        proofs = PROOF.findall(rule)
        if not proofs:
            wrong.append(f"{place}: the rule names no test: add `{PROVED_BY}SUITE/CASE`")
        for proof in proofs:
            suite, _, case = proof.partition("/")
            of_suite = cases.get(VERSION.sub("", suite), ())
            if suite not in tests:
                wrong.append(f"{place}: no test is called {suite}")
            elif case and case not in of_suite:
                wrong.append(f"{place}: {suite} has no case {case}")
            elif not case and of_suite:
                wrong.append(f"{place}: which case of {suite}?")
    return wrong


def known_tests(build):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True)
    return {test["name"] for test in json.loads(listed.stdout)["tests"]}


def suite_of(path):
    """ctest's name of the suite in a file of tests/: "tests/unit/base/config.cpp" is unit_base_config."""
    return path.removeprefix("tests/").removesuffix(".cpp").replace("/", "_")


def cases_of(source):
    """The names of test cases, and of the suites around them."""
    return set(CASE.findall(source))
