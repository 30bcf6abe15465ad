#!/usr/bin/env python3
"""dashboard_rules.py: what ops/grafana must keep so that Grafana, which is not here, can show it.

That the queries return data is tests/integration/dashboard.cpp's to prove. Needs PyYAML (tests/stack/venv). Prints
each broken rule; exit 1 when there is one.
"""
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "ops/grafana"
DASHBOARD = json.loads((FOLDER / "dashboards/epilogue.json").read_text())
PROVIDERS = yaml.safe_load((FOLDER / "dashboards/provider.yml").read_text())["providers"]
SOURCES = yaml.safe_load((FOLDER / "datasources/prometheus.yml").read_text())["datasources"]
SERVICE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["grafana"]
METRICS = set(re.findall(r'"((?:epilogue|process)_\w+)"', (ROOT / "worker/observe/metrics.cpp").read_text()
                         + (ROOT / "worker/observe/process_metrics.cpp").read_text()
                         + (ROOT / "ops/relay/relay_metrics.cpp").read_text()))
RUNBOOK = set(re.findall(r"^## (.+)$", (ROOT / "ops/runbook.md").read_text(), re.M))
SHOWN = {"timeseries", "stat", "bargauge"}

broken = []


def rule(holds, where, text):
    if not holds:
        broken.append(f"{where}: {text}")


def check_query(title, target):
    expression = target.get("expr", "")
    rule(expression and target.get("legendFormat"), title, "a query needs an expression and a legend")
    rule(target.get("datasource", {}).get("uid") == SOURCES[0]["uid"], title, "asks another datasource")
    for name, job in re.findall(r'((?:epilogue|process)_\w+|\bup\b)(?:{[^}]*job="([^"]*)")?', expression):
        rule(job == ("epilogue-relay" if "_relay_" in name else "epilogue"), title,
             f"{name} must be of the stack's job that has it")
    for name in re.findall(r"(?:epilogue|process)_\w+", expression):
        rule(re.sub(r"_(bucket|sum|count)$", "", name) in METRICS or name in METRICS, title, f"nobody exports {name}")


def check_links(title, links):
    """Each leads to the heading of the runbook that it is called by, on the Prometheus that the dashboard's variable names."""
    for link in links:
        heading = link["title"].removeprefix("Runbook: ")
        rule(heading in RUNBOOK, title, f"the runbook has no heading {heading}")
        rule(link["url"] == f"${{prometheus:raw}}/consoles/runbook.html#{heading.lower()}", title, f"leads to {link['url']}")


def check_panel(panel):
    title = panel.get("title", "")
    rule(title, f"panel {panel['id']}", "needs a title")
    if panel["type"] == "row":
        return
    rule(panel["type"] in SHOWN, title, f"type {panel['type']}: Grafana's own, or it needs a plug-in")
    rule(panel.get("description"), title, "needs a description")
    rule(panel["fieldConfig"]["defaults"].get("unit"), title, "needs a unit")
    rule(panel.get("targets"), title, "asks nothing")
    rule(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24, title, "is wider than the page")
    rule(len({t["refId"] for t in panel["targets"]}) == len(panel["targets"]), title, "two queries have one refId")
    for target in panel["targets"]:
        check_query(title, target)
    check_links(title, panel.get("links", []))


def check_places():
    """No two panels overlap."""
    taken = {}
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        for cell in ((x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])):
            rule(taken.setdefault(cell, panel["id"]) == panel["id"], panel["title"], "lies over another panel")


def check_provisioning():
    rule(len(list((FOLDER / "dashboards").glob("*.json"))) == 1, "ops/grafana", "exactly one dashboard")
    rule(len(SOURCES) == 1 and SOURCES[0]["type"] == "prometheus", "datasources", "exactly one, a Prometheus")
    rule(SOURCES[0]["url"] == "http://prometheus:9090", "datasources", "must ask the stack's prometheus")
    mounted = dict(volume.split(":")[:2] for volume in SERVICE["volumes"])
    rule(all(volume.endswith(":ro") for volume in SERVICE["volumes"]), "grafana", "its files are read-only")
    for path in ("datasources/prometheus.yml", "dashboards/provider.yml", "dashboards/epilogue.json"):
        rule(mounted.get(f"./ops/grafana/{path}") == f"/etc/grafana/provisioning/{path}", "grafana",
             f"{path} is not where Grafana looks")
    home = SERVICE["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    rule(home in mounted.values(), "grafana", "its home is no file of ours")
    rule([p["options"]["path"] for p in PROVIDERS] == [str(pathlib.PurePosixPath(home).parent)], "provider",
         "looks for dashboards elsewhere")


ids = [panel["id"] for panel in DASHBOARD["panels"]]
rule(len(set(ids)) == len(ids), "dashboard", "two panels have one id")
rule(DASHBOARD.get("uid") and DASHBOARD.get("title"), "dashboard", "needs a uid and a title")
for one in DASHBOARD["panels"]:
    check_panel(one)
linked = {link["title"].removeprefix("Runbook: ") for one in DASHBOARD["panels"] for link in one.get("links", [])}
rule(linked == RUNBOOK, "dashboard", f"no panel leads to these headings of the runbook: {RUNBOOK - linked}")
variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
rule(variables.get("prometheus", {}).get("query") == "http://127.0.0.1:9090", "dashboard", "its links need the stack's Prometheus")
check_places()
check_provisioning()
print("\n".join(broken) or f"{len(ids)} panels keep every rule")
sys.exit(bool(broken))
