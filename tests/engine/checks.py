"""What can be seen of the stack's containers from outside: health, what they may do, how they ended, what is left."""
import contextlib
import json
import pathlib

from engine import Failure, compose, docker, inspect, wait_until

WORKERS = 2
ONE_SHOT = {"keys", "topic", "migrate"}
KILLED = 137
LABEL = "label=com.docker.compose.project=epilogue"


def containers(*services):
    """What `docker inspect` says of the containers of these services, of all without any; of ended ones, too."""
    found = inspect(*docker("ps", "-aq", "--filter", LABEL, "--filter", "label=com.docker.compose.oneoff=False").split())
    return [container for container in found if not services or service_of(container) in services]


def service_of(container):
    return container["Config"]["Labels"]["com.docker.compose.service"]


def is_well(container):
    state = container["State"]
    if service_of(container) in ONE_SHOT:
        return state["Status"] == "exited" and state["ExitCode"] == 0
    return state["Status"] == "running" and state["Health"]["Status"] == "healthy"


def all_well():
    return all(is_well(container) for container in containers())


def check_health():
    """Every server is healthy, what runs once has ended well, and nothing had to be started a second time."""
    found = {}
    for container in containers():
        name = service_of(container)
        found[name] = found.get(name, 0) + 1
        if not is_well(container) or container["RestartCount"]:
            raise Failure(f"{name}: {json.dumps(container['State'])}, started again {container['RestartCount']} times")
    wanted = {name: WORKERS if name == "worker" else 1 for name in compose("config", "--services").split()}
    if found != wanted:
        raise Failure(f"containers {found}, expected {wanted}")


def status_of(process):
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.split() for name, value in (line.split(":", 1) for line in lines)}


def processes_of(container):
    """The processes that the kernel counts to it, by their numbers out here."""
    group = pathlib.Path(f"/proc/{container['State']['Pid']}/cgroup").read_text().strip().split("::", 1)[1]
    return [int(word) for word in pathlib.Path(f"/sys/fs/cgroup{group}/cgroup.procs").read_text().split()]


def complaint_of(process, user):
    """What the kernel lets it do beyond what its user may, whatever it executes; "" when nothing, or when it is gone."""
    try:
        status = status_of(process)
    except (FileNotFoundError, ProcessLookupError):  # a health check's
        return ""
    for key, wanted in {"Uid": [user] * 4, "NoNewPrivs": ["1"], "Seccomp": ["2"], "CapEff": ["0" * 16],
                        "CapPrm": ["0" * 16], "CapBnd": ["0" * 16]}.items():
        if status[key] != wanted:
            return f"a process ({' '.join(status['Name'])}) has {key} {status[key]}, expected {wanted}"
    return ""


def check_process(name, process, user):
    # A health check's process is the engine's own for a moment, until it executes the command.
    with contextlib.suppress(Failure):
        wait_until("no more rights than its user has", lambda: not complaint_of(process, user), 10)
    if complaint := complaint_of(process, user):
        raise Failure(f"{name}: {complaint}")


def check_hardening():
    """Each running container has the user that compose names, no capability, and a root it cannot write to."""
    services = json.loads(compose("config", "--format", "json"))["services"]
    for container in containers():
        name = service_of(container)
        if not container["HostConfig"]["ReadonlyRootfs"]:
            raise Failure(f"{name}: its root can be written to")
        if name in ONE_SHOT:
            continue
        user = services[name]["user"].split(":")[0]
        if user == "0" or not processes_of(container):
            raise Failure(f"{name}: runs as {user}, processes {processes_of(container)}")
        for process in processes_of(container):
            check_process(name, process, user)
        identity = container["Id"]
        if docker("exec", identity, "sh", "-c", "echo x 2>/dev/null >/usr/written || echo no").strip() != "no":
            raise Failure(f"{name}: /usr can be written to")
        docker("exec", identity, "sh", "-c", "echo x >/tmp/written && rm /tmp/written")


def check_secrets():
    """The key is its user's alone; the database reads its password from the same volume."""
    mysql, worker = containers("mysql")[0]["Id"], containers("worker")[0]["Id"]
    docker("exec", worker, "cat", "/var/lib/epilogue/epilogue.key")
    docker("exec", mysql, "cat", "/run/epilogue/database.password")
    if docker("exec", mysql, "sh", "-c", "cat /run/epilogue/epilogue.key 2>/dev/null || echo no").strip() != "no":
        raise Failure("mysql: reads the signing key")


def check_ends():
    """Each server that was told to stop has ended by itself, within its time."""
    for container in containers():
        code = container["State"]["ExitCode"]
        if container["State"]["Status"] != "exited" or code not in (0, 143):
            raise Failure(f"{service_of(container)}: {'killed' if code == KILLED else f'ended with {code}'} after `stop`: "
                          + json.dumps(container["State"]))
        if service_of(container) == "worker" and code != 0:
            raise Failure(f"worker: ended with {code} after `stop`")


def check_nothing_left():
    """After `down -v`."""
    left = {"containers": docker("ps", "-aq"), "volumes": docker("volume", "ls", "-q"),
            "networks": docker("network", "ls", "-q", "--filter", "type=custom")}
    if any(left.values()):
        raise Failure(f"`docker compose down -v` left {left}")
