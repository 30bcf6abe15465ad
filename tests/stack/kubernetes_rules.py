#!/usr/bin/env python3
"""kubernetes_rules.py: the files for Kubernetes in ops/openhands fit together, and the page beside them knows each variable.

No cluster is asked, and no schema of Kubernetes: what a manifest names has to be there. Needs PyYAML (tests/stack/venv).
Prints each broken rule; exit 1 when there is one.
"""
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "ops/openhands"
PAGE = (HERE / "README.md").read_text()
EXAMPLE = (ROOT / "ops/epilogue.example.toml").read_text()
PROCESSOR = (HERE / "epilogue_processor.py").read_text()
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
MANIFESTS = list(yaml.safe_load_all((HERE / "kubernetes.yaml").read_text()))
PATCH = yaml.safe_load((HERE / "kubernetes-app-server.yaml").read_text())
# The rows of the page's table of variables: | `NAME` | where | what |
ROWS = dict(re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \| ([^|]+) \|", PAGE, re.M))
SECRETS = {"epilogue.toml", "epilogue.key", "relay.key", "api.key"}

broken = []


def rule(holds, where, text):
    if not holds:
        broken.append(f"{where}: {text}")


def of_kind(kind):
    return {m["metadata"]["name"]: m["spec"] for m in MANIFESTS if m["kind"] == kind}


def settings():
    """The variables of all settings: EPILOGUE_<SECTION>_<KEY>."""
    section = ""
    for line in EXAMPLE.splitlines():
        if found := re.fullmatch(r"\[(\w+)\]", line):
            section = found[1]
        elif found := re.match(r"(\w+) = ", line):
            yield f"EPILOGUE_{section}_{found[1]}".upper()


def check_deployment(name, spec):
    rule(spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"], name, "selects no pod of its own")
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    image = next(s["image"] for s in COMPOSE["services"].values() if s["image"].startswith("epilogue:"))
    rule(container["image"] == image, name, f"image {container['image']} is not {image}, as in docker-compose.yml")
    rule(container["args"][:2] == [container["name"], "--config"], name, "does not run the command of its name")
    ports = {port["name"] for port in container["ports"]}
    for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        asked = container[probe]["httpGet"]
        rule(asked["path"] == path and asked["port"] in ports, name, f"{probe} asks for something else")
    variables = {entry["name"]: entry["value"] for entry in container["env"]}
    listen = variables[f"EPILOGUE_{container['name'].upper()}_HTTP_LISTEN"]
    rule(listen == f"0.0.0.0:{container['ports'][0]['containerPort']}", name, f"listens on {listen}")
    for variable in variables:
        rule(variable in set(settings()), name, f"{variable} is no setting's")
        rule(variable in ROWS, name, f"README.md has no row for {variable}")
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    rule(set(mounts) == {volume["name"] for volume in pod["volumes"]}, name, "mounts other volumes than it has")
    files = re.findall(r"/run/epilogue/([\w.]+)", json.dumps([container["args"], variables]))
    rule(files and set(files) <= SECRETS and mounts["settings"] == "/run/epilogue", name, f"reads {files}")
    rule(pod["volumes"][0]["secret"]["secretName"] == "epilogue", name, "its secret is called otherwise")


def check_service(name, spec):
    (container,) = of_kind("Deployment")[name]["template"]["spec"]["containers"]
    (port,) = spec["ports"]
    rule(spec["selector"] == of_kind("Deployment")[name]["template"]["metadata"]["labels"], name, "selects nothing")
    rule(port["targetPort"] in {p["name"] for p in container["ports"]}, name, "its port leads nowhere")


def check_patch():
    where = "kubernetes-app-server.yaml"
    pod = PATCH["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    seen = {}
    for entry in container["env"]:
        name = entry["name"]
        rule(name in ROWS or name == "PYTHONPATH", where, f"README.md has no row for {name}")
        if "valueFrom" in entry:
            key = entry["valueFrom"]["secretKeyRef"]
            rule(key["name"] == "epilogue" and key["key"] in SECRETS, where, f"{name} is in no secret")
        for used in re.findall(r"\$\((\w+)\)", entry.get("value", "")):
            rule(used in seen, where, f"{name} uses {used}, which is not set before it")
        seen[name] = entry.get("value")
    services = {f"http://{name}:{spec['ports'][0]['port']}" for name, spec in of_kind("Service").items()}
    sandbox = json.loads(seen["OH_AGENT_SERVER_ENV"])
    for name in sandbox:
        rule(name in ROWS, where, f"README.md has no row for {name}")
    rule(all(isinstance(value, str) for value in sandbox.values()), where, "a variable is text")
    rule(list(json.loads(sandbox["OH_WEBHOOKS_1_HEADERS"])) == ["Authorization"], where, "the webhook shows no key")
    rule({sandbox["OH_WEBHOOKS_1_BASE_URL"], seen["EPILOGUE_URL"]} == services, where, "names other services than there are")
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    rule(mounted == {pod["volumes"][0]["name"]: seen["PYTHONPATH"]}, where, "the processor is not on the path")
    for name in re.findall(r"os\.environ\['(\w+)'\]", PROCESSOR):
        rule(name in seen, where, f"epilogue_processor.py reads {name}, which is not set")


def check_page():
    """Each variable that the page's code sets, and that its prose names, has a row; each row's is used somewhere."""
    code = "\n".join(re.findall(r"^```\w*\n(.*?)^```", PAGE, re.M | re.S))
    used = set(re.findall(r"\b((?:OH|EPILOGUE)_[A-Z0-9_]+)\b", PAGE)) | set(re.findall(r"^export (\w+)=", code, re.M))
    for name in sorted(used - set(ROWS)):
        rule(False, "README.md", f"its table has no row for {name}")
    files = code + "".join(path.read_text() for path in HERE.glob("*.yaml"))
    for name in ROWS:
        rule(re.search(rf"\b{name}\b", files), "README.md", f"{name} has a row, and nothing names it")


def main():
    for name, spec in of_kind("Deployment").items():
        check_deployment(name, spec)
    for name, spec in of_kind("Service").items():
        check_service(name, spec)
    rule(set(of_kind("Deployment")) == set(of_kind("Service")) == {"epilogue-relay", "epilogue-worker"}, "kubernetes.yaml",
         "holds other things than a relay and workers, each behind a Service")
    check_patch()
    check_page()
    print("\n".join(broken) or f"{len(MANIFESTS)} manifests, {len(ROWS)} variables: all fit")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
