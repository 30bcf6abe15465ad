#!/usr/bin/env python3
"""compose_rules.py: what docker-compose.yml and ops/Dockerfile must keep, beyond being well formed.

Needs PyYAML (tests/stack/venv). Prints each broken rule; exit 1 when there is one.
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
PROMETHEUS = yaml.safe_load((ROOT / "ops/prometheus/prometheus.yml").read_text())
DOCKERFILE = (ROOT / "ops/Dockerfile").read_text()
SERVICES = COMPOSE["services"]
PINNED = re.compile(r"^[a-z0-9./-]+:v?\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?(@sha256:[0-9a-f]{64})?$")
EXPECTED = {"keys", "kafka", "topic", "mysql", "migrate", "worker", "relay", "prometheus", "grafana"}
ONE_SHOT = {"keys", "topic", "migrate"}
LARGEST_EVENT = 16 * 1024 * 1024

broken = []


def rule(holds, where, text):
    if not holds:
        broken.append(f"{where}: {text}")


def seconds(text):
    return sum(float(n) * {"h": 3600, "m": 60, "s": 1}[unit] for n, unit in re.findall(r"([\d.]+)([hms])", text))


def check_hardening(name, service):
    rule(PINNED.match(service["image"]), name, f"image {service['image']} is not pinned to a version")
    uid = str(service.get("user", "0")).split(":")[0]
    rule(uid.isdigit() and int(uid) > 0, name, "must name a numeric user that is not root")
    rule(service.get("read_only") is True, name, "must have a read-only root file system")
    rule(service.get("cap_drop") == ["ALL"], name, "must drop all capabilities")
    rule("no-new-privileges:true" in service.get("security_opt", []), name, "must set no-new-privileges")
    rule(service.get("init") is True, name, "must have an init that reaps and forwards signals")
    for key in ("privileged", "container_name", "network_mode", "cap_add", "pid", "ipc"):
        rule(key not in service, name, f"must not set {key}")
    for port in service.get("ports", []):
        rule(str(port).startswith("127.0.0.1:"), name, f"port {port} is open to the network")


def check_tmpfs(name, service):
    """A tmpfs belongs to root unless it is told otherwise; only of /tmp has every image a mode for everybody."""
    user = dict(zip(("uid", "gid"), str(service.get("user", "0:0")).split(":")))
    for mount in service.get("tmpfs", []):
        path, _, options = mount.partition(":")
        given = dict(word.split("=", 1) for word in options.split(",") if "=" in word)
        rule(path == "/tmp" or user.items() <= given.items(), name, f"tmpfs {path} does not belong to its user")


def check_life(name, service):
    if name in ONE_SHOT:
        rule(service.get("restart") == "no", name, "runs once: restart must be \"no\"")
    else:
        rule(service.get("restart") == "unless-stopped", name, "must restart unless stopped")
        health = service.get("healthcheck", {})
        for key in ("test", "interval", "timeout", "retries", "start_period"):
            rule(key in health, name, f"healthcheck lacks {key}")
    for other, how in service.get("depends_on", {}).items():
        wanted = "service_completed_successfully" if other in ONE_SHOT else "service_healthy"
        rule(how.get("condition") == wanted, name, f"must wait for {other} with {wanted}")


def check_secrets(name, service):
    for key, value in service.get("environment", {}).items():
        if re.search(r"PASSWORD$|KEYS?$|TOKEN$", key):
            harmless = key == "MYSQL_RANDOM_ROOT_PASSWORD" or re.fullmatch(r"file:/\S+|\$\{\w+:-\}", str(value))
            rule(harmless, name, f"{key} holds a secret: take it from a file or from the caller's environment")


def check_wiring():
    worker, migrate, topic = SERVICES["worker"], SERVICES["migrate"], SERVICES["topic"]
    rule(set(worker["depends_on"]) >= {"migrate", "topic", "kafka"}, "worker", "must wait for migrate, topic and kafka")
    rule("mysql" in migrate["depends_on"], "migrate", "must wait for mysql")
    rule("kafka" in topic["depends_on"], "topic", "must wait for kafka")
    rule("ports" not in worker, "worker", "a fixed port does not go with --scale")
    rule(migrate["command"] == ["migrate"] and worker["command"] == ["worker"], "migrate, worker", "odd command")
    rule(seconds(worker.get("stop_grace_period", "10s")) >= 30, "worker", "killed before [worker] drain_s = 25 is over")

    options = dict(word.lstrip("-").split("=", 1) for word in topic["command"] if "=" in word)
    rule(options.get("topic") == "conversation.events", "topic", "odd name")
    rule(options.get("partitions") == "6", "topic", "must have 6 partitions")
    largest = options.get("config", "").removeprefix("max.message.bytes=")
    rule(largest.isdigit() and int(largest) > LARGEST_EVENT, "topic", "an event of 16 MiB and its envelope must fit")
    rule(any("utf8mb4" in word for word in SERVICES["mysql"]["command"]), "mysql", "must speak utf8mb4")

    relay = SERVICES["relay"]
    rule(set(relay["depends_on"]) >= {"migrate", "topic", "kafka"}, "relay", "must wait for migrate, topic and kafka")
    rule(relay["command"] == ["relay"], "relay", "odd command")
    for setting in "KEYS", "SERVERS", "APP_SERVERS":
        name = f"EPILOGUE_RELAY_{setting}"
        rule(relay["environment"].get(name) == f"${{{name}:-}}", "relay", f"{name} cannot be set from outside")
    rule(seconds(relay.get("stop_grace_period", "10s")) >= 40, "relay", "killed before its drain of 35 s is over")
    found = {job["job_name"]: [(d["names"], d["type"], d["port"]) for d in job.get("dns_sd_configs", [])]
             for job in PROMETHEUS["scrape_configs"]}
    for name, job in ("worker", "epilogue"), ("relay", "epilogue-relay"):
        service = SERVICES[name]
        port = int(service["environment"][f"EPILOGUE_{name.upper()}_HTTP_LISTEN"].rsplit(":", 1)[1])
        rule(found.get(job) == [([name], "A", port)], "prometheus", f"must find every {name} by DNS on port {port}")
        rule(str(port) in str(service["healthcheck"]["test"]), name, f"healthcheck must ask port {port}")


def check_files():
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                rule((ROOT / source).is_file(), name, f"{source} does not exist")
            else:
                rule(source in COMPOSE["volumes"], name, f"volume {source} is not declared")


def check_dockerfile():
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
    rule(len(bases) >= 2, "Dockerfile", "must build in a stage of its own")
    for base in bases:
        rule(PINNED.match(base), "Dockerfile", f"FROM {base} is not pinned")
    users = re.findall(r"^USER (\S+)", DOCKERFILE, re.M)
    ours = {s["user"] for s in SERVICES.values() if "build" in s}
    rule(users and ours == {users[-1]}, "Dockerfile", f"USER {users} and the stack's {ours} differ")
    rule('ENTRYPOINT ["epilogue"]' in DOCKERFILE, "Dockerfile", "ENTRYPOINT must be epilogue")


rule(set(SERVICES) == EXPECTED, "docker-compose.yml", f"services {sorted(SERVICES)}, expected {sorted(EXPECTED)}")
for service_name, service_body in SERVICES.items():
    check_hardening(service_name, service_body)
    check_tmpfs(service_name, service_body)
    check_life(service_name, service_body)
    check_secrets(service_name, service_body)
check_wiring()
check_files()
check_dockerfile()
print("\n".join(broken) or f"{len(SERVICES)} services keep every rule")
sys.exit(bool(broken))
