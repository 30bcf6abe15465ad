#!/usr/bin/env python3
"""alert_rules.py: what alerts, runbook and consoles must keep so that they lead an operator on.

That each alert fires and does not fire when it should is `promtool test rules`' to prove (alerts.test.yml); here it is
only checked that none is left out. Needs PyYAML and markdown-it-py (tests/stack/venv). Prints each broken rule; exit 1
when there is one. With EPILOGUE_UPDATE_GOLDEN=1 it writes ops/prometheus/consoles/runbook.html anew.
"""
import os
import pathlib
import re
import sys

import yaml
from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "ops/prometheus"
RUNBOOK = ROOT / "ops/runbook.md"
PAGE = FOLDER / "consoles/runbook.html"
LINK = "{{ $externalURL }}/consoles/runbook.html#"
PARTS = ["What it means.", "What to look at.", "What to do.", "When it is over."]
MOST_ALERTS = 12
HEAD = """<!DOCTYPE html>
<!-- Made of ops/runbook.md by tests/stack/alert_rules.py with EPILOGUE_UPDATE_GOLDEN=1: change that page, not this. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Epilogue: runbook</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
pre { overflow-x: auto; padding: .8em; border: 1px solid #8886; }
h2 { border-top: 1px solid #8886; padding-top: 1em; }
h2:target { background: #fc06; }
</style>
</head>
<body>
<p><a href="epilogue.html">How the pool is now</a></p>
"""

RULES = [rule for group in yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"] for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}
RECORDED = {rule["record"] for rule in RULES if "record" in rule}
TESTS = yaml.safe_load((ROOT / "tests/stack/alerts.test.yml").read_text())["tests"]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["prometheus"]
METRICS = set(re.findall(r'"((?:epilogue|process)_\w+)"', "".join(
    (ROOT / path).read_text() for path in ("worker/observe/metrics.cpp", "worker/observe/process_metrics.cpp",
                                           "ops/relay/relay_metrics.cpp"))))
SETTINGS = (ROOT / "ops/epilogue.example.toml").read_text()
CONTRACT = (ROOT / "docs/contract.md").read_text()
ROWS = [row for row in (CONTRACT + (ROOT / "docs/architecture.md").read_text()).splitlines() if row.startswith("|")]
STATES = set(re.findall(r"\b[A-Z]{4,}\b", CONTRACT))
TARGET = {"job", "instance", "cluster", "namespace"}  # labels that a target has, whatever the metric

broken = []


def rule(holds, where, text):
    if not holds:
        broken.append(f"{where}: {text}")


def anchor(heading):
    """As GitHub makes it of a heading of plain words."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def runbook_page():
    """The runbook as a page that Prometheus shows. It expands templates, so the page must hold none."""
    text = RUNBOOK.read_text()
    rule("{{" not in text, "runbook.md", "Prometheus would take {{ for a template")
    html = MarkdownIt("commonmark").render(text)
    html = re.sub(r"<h(\d)>(.*?)</h\1>", lambda found: f'<h{found[1]} id="{anchor(found[2])}">{found[2]}</h{found[1]}>', html)
    return HEAD + html + "</body>\n</html>\n"


def sections():
    """Heading: text, of each second heading of the runbook."""
    parts = re.split(r"^## (.+)$", RUNBOOK.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def contract_labels():
    """Metric: its labels, as the contract's tables list them."""
    rows = re.findall(r"^\| (`(?:epilogue|process)_[^|]*) \|", CONTRACT, re.M)
    found = {}
    for name, labels in re.findall(r"`((?:epilogue|process)_\w+)(?:\{([\w,]+)\})?`", "".join(rows)):
        found[name] = found.get(name, set()) | set(filter(None, labels.split(",")))
    return found


def recorded_labels():
    """Recorded series: what its rule sums by."""
    return {one["record"]: set(re.split(r"[, ]+", re.search(r"by \(([^)]*)\)", one["expr"])[1])) for one in RULES
            if "record" in one}


LABELS = contract_labels() | recorded_labels()


def values_of(metric):
    """What the tables of both pages set as code in the rows of a metric: among it is every value of its labels."""
    return {word for row in ROWS if f"`{metric}" in row for word in re.findall(r"`([^`]+)`", row)}


def check_metric(where, name, selectors):
    """It is exported, and has the labels and the values that are asked for. Returns its labels."""
    base = name if name in LABELS else re.sub(r"_(bucket|sum|count)$", "", name)
    rule(base in METRICS or base in RECORDED, where, f"nobody exports or records {name}")
    rule(base in LABELS, where, f"docs/contract.md has no {name}")
    labels = LABELS.get(base, set()) | ({"le"} if name.endswith("_bucket") else set())
    for label, values in re.findall(r'(\w+)(?:=~|!=|!~|=)\\?"?([^",}\\]*)', selectors):
        rule(label in labels | TARGET, where, f"{name} has no label {label}")
        if label in labels and "%" not in values:
            rule(set(values.split("|")) <= values_of(base) | STATES, where, f"no page has {values} as {label} of {name}")
    return labels


def check_expression(where, expression):
    labels = TARGET.copy()
    for name, selectors in re.findall(r"\b((?:epilogue_|epilogue:|process_)[\w:]+)(?:\{([^}]*)\})?", expression):
        labels |= check_metric(where, name, selectors)
    for listed in re.findall(r"\b(?:by|on) \(([\w, ]+)\)", expression):
        for label in re.split(r"[, ]+", listed):
            rule(label in labels | {"le"}, where, f"no metric in it has the label {label}")


def check_registry():
    """The contract has what is exported, and no metric that is not."""
    rule(METRICS == set(contract_labels()), "contract.md", f"its metrics differ: {METRICS ^ set(contract_labels())}")


def check_alert(name, alert, section):
    notes, labels = alert.get("annotations", {}), alert.get("labels", {})
    rule(labels.get("severity") in ("critical", "warning"), name, "severity is critical or warning")
    rule(notes.get("summary") and notes.get("description"), name, "needs a summary and a description")
    rule(notes.get("runbook_url") == LINK + anchor(name), name, f"runbook_url leads to {notes.get('runbook_url')}")
    rule(section is not None, name, "has no heading in ops/runbook.md")
    found = re.findall(r"^\*\*([^*]+)\*\*", section or "", re.M)
    rule(found == PARTS, name, f"its section of the runbook has the parts {found}, not {PARTS}")
    expected = [check.get("exp_alerts", []) for test in TESTS for check in test.get("alert_rule_test", [])
                if check["alertname"] == name]
    rule(any(expected), name, "no test has it fire")
    rule(not all(expected), name, "no test has it not fire")


def check_runbook():
    """Nothing is kept for an alert that is gone; every setting and link that it names is there."""
    text, headings = RUNBOOK.read_text(), sections()
    rule(set(headings) == set(ALERTS), "runbook.md", f"its headings and the alerts differ: {set(headings) ^ set(ALERTS)}")
    anchors = {anchor(heading) for heading in headings}
    for link in re.findall(r"\]\(#([^)]+)\)", text):
        rule(link in anchors, "runbook.md", f"#{link} is no heading of it")
    check_expression("runbook.md", text)
    described = CONTRACT[CONTRACT.index("## 1."):CONTRACT.index("## 2.")]
    for command in re.findall(r"(?m)(?:^|`)epilogue ([a-z][a-z-]*(?: [a-z][a-z-]*)*)", text):
        rule(re.search(rf"`{re.escape(command)}(?![\w-])", described), "runbook.md", f"no command {command}")
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
        rule(re.search(rf"{option}(?![\w-])", described), "runbook.md", f"no option {option}")
    for section, key in re.findall(r"`\[(\w+)\] (\w+)", text):
        rule(re.search(rf"(?ms)^\[{section}\]$(?:(?!^\[).)*^{key} = ", SETTINGS), "runbook.md", f"no setting [{section}] {key}")


def check_loaded():
    """Prometheus of docker-compose.yml has the rules and shows the pages."""
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    rule(config.get("rule_files") == ["rules.yml"], "prometheus.yml", "must load rules.yml, which stands beside it")
    mounted = dict(volume.split(":")[:2] for volume in COMPOSE["volumes"])
    for path in ("prometheus.yml", "rules.yml", *(f"consoles/{page.name}" for page in PAGE.parent.iterdir())):
        rule(mounted.get(f"./ops/prometheus/{path}") == f"/etc/prometheus/{path}", "prometheus", f"{path} is not mounted")
    rule("--web.console.templates=/etc/prometheus/consoles" in COMPOSE["command"], "prometheus", "does not show the consoles")


def check_consoles():
    for page in PAGE.parent.glob("*.html"):
        text = page.read_text()
        rule(not re.search(r'(src|href)="(https?:)?//', text), page.name, "loads something from elsewhere")
        if page != PAGE:
            check_expression(page.name, text)
    made = runbook_page()
    if os.environ.get("EPILOGUE_UPDATE_GOLDEN") == "1":
        PAGE.write_text(made)
    rule(PAGE.is_file() and PAGE.read_text() == made, "consoles/runbook.html", "is not what ops/runbook.md makes; "
         "EPILOGUE_UPDATE_GOLDEN=1 writes it")


rule(0 < len(ALERTS) <= MOST_ALERTS, "rules.yml", f"{len(ALERTS)} alerts, at most {MOST_ALERTS}")
used = "".join(one["expr"] for one in RULES) + RUNBOOK.read_text()
for one in RULES:
    check_expression(one.get("alert", one.get("record")), one["expr"])
    if "record" in one:
        rule(len(re.findall(rf"{re.escape(one['record'])}(?![\w:])", used)), one["record"], "nothing uses it")
    else:
        check_alert(one["alert"], one, sections().get(one["alert"]))
check_registry()
check_runbook()
check_loaded()
check_consoles()
print("\n".join(broken) or f"{len(ALERTS)} alerts and {len(RECORDED)} recorded series keep every rule")
sys.exit(bool(broken))
