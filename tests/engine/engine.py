"""A Docker Engine of this room's own, and the images that docker-compose.yml names, made without a registry."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RUN = pathlib.Path("/run/engine")  # in memory, of this mount namespace alone
CONTAINERD = """version = 2
root = "/run/engine/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[plugins."io.containerd.internal.v1.opt"]
path = "/run/engine/opt"
"""
STAND_INS = {  # service: what is in the image of that name here
    "kafka": "the jars of Maven Central and Debian's Java, with scripts of our own",
    "mysql": "the server of Maven Central, with an entrypoint of our own",
    "prometheus": "Debian's programs, of an older version",
    "grafana": "NO Grafana, only something that answers its health check",
}


class Failure(Exception):
    """The stack did not do what its users count on."""


class NoEngine(Exception):
    """The engine itself does not start here."""


def say(text):
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


STARTED = time.monotonic()


def wait_until(what, condition, within_s):
    """Asks again and again; what the condition answered once that is true. Failure after `within_s` seconds."""
    deadline, pause = time.monotonic() + within_s, threading.Event()
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not after {within_s} s")
        pause.wait(0.2)
    return answer


def run(*words, stdin=None, within_s=120, fails=False):
    """A command's standard output. Failure with all that it wrote, unless it ends with 0 (or `fails` is allowed)."""
    try:
        done = subprocess.run([str(word) for word in words], input=stdin, text=True, capture_output=True,
                              timeout=within_s, cwd=ROOT)
    except subprocess.TimeoutExpired as late:
        raise Failure(f"{' '.join(map(str, words))}: not done after {within_s} s\n{late.stdout}{late.stderr}") from None
    if done.returncode != 0 and not fails:
        raise Failure(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def docker(*words, **how):
    return run("docker", *words, **how)


def compose(*words, **how):
    return docker("compose", "--ansi", "never", "-f", "docker-compose.yml", "-f", HERE / "platform.yml", *words, **how)


def inspect(*names):
    """What the engine says of containers or images, a list."""
    return json.loads(docker("inspect", *names)) if names else []


def complaints(log):
    with open(log) as lines:
        return [line for line in lines if "level=info" not in line]


@contextlib.contextmanager
def engine():
    """containerd and dockerd, until the caller is done; their logs are shown when anything fails."""
    RUN.mkdir()
    (RUN / "containerd.toml").write_text(CONTAINERD)
    log = RUN / "log"
    with open(log, "w") as output, contextlib.ExitStack() as ends:
        def start(*words):
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            ends.callback(process.wait, 60)
            ends.callback(process.terminate)
            return process

        def start_both():
            start("containerd", "-c", str(RUN / "containerd.toml"))
            wait_until("containerd listens", pathlib.Path("/run/containerd/containerd.sock").exists, 60)
            start("dockerd", "--data-root", str(RUN / "docker"), "--containerd", "/run/containerd/containerd.sock",
                  "--exec-opt", "native.cgroupdriver=cgroupfs")
            wait_until("the engine answers", lambda: docker("version", "-f", "{{.Server.Version}}", fails=True).strip(), 60)

        try:
            try:
                start_both()
            except Failure as failure:
                raise NoEngine(str(failure)) from None
            yield
        except BaseException:
            sys.stderr.write("--- the engine complained of, last:\n" + "".join(complaints(log)[-40:]) + "---\n")
            raise


def build(tag, dockerfile, files):
    """An image of this text and these files, by name; without any network."""
    context = RUN / "context"
    shutil.rmtree(context, ignore_errors=True)
    context.mkdir()
    (context / "Dockerfile").write_text(dockerfile)
    for name, source in files.items():
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, context / name)
        else:
            shutil.copy(source, context / name)
    docker("build", "-q", "--network=none", "-t", tag, context, within_s=300)
    shutil.rmtree(context)


def epilogue_image(tag, executable):
    """ops/Dockerfile with the executable there is in place of its first stage, the second as it stands."""
    text = (ROOT / "ops/Dockerfile").read_text()
    stages = re.split(r"(?m)^(?=FROM )", text)[1:]
    if len(stages) != 2 or not re.match(r"FROM \S+ AS build\n", stages[0]):
        raise Failure("ops/Dockerfile: wants two stages, the first called build")
    stripped = RUN / "epilogue"
    run("strip", "-o", stripped, executable)
    build(tag, "FROM scratch AS build\nCOPY opt/epilogue /opt/epilogue\n" + stages[1],
          {"ops/setup": ROOT / "ops/setup", "ops/packages": ROOT / "ops/packages", "opt/epilogue/bin/epilogue": stripped})


def make_images(folder, executable):
    """Every image that docker-compose.yml names, under the name that it has there. `folder`: the build folder."""
    os.environ["DOCKER_BUILDKIT"] = "0"  # the other builder is a plugin of its own
    base = re.search(r"(?m)^FROM (\S+)$", (ROOT / "ops/Dockerfile").read_text())[1]
    docker("import", folder / "engine/debian.tar", base)
    docker("import", folder / "engine/servers.tar", "servers")
    services = json.loads(compose("config", "--format", "json"))["services"]
    images, programs = HERE / "images", (folder / "prometheus/bin/prometheus").resolve().parent
    files = {
        "kafka": {"libs": ROOT / "build/kafka-4.3.1", "kafka-run": images / "kafka-run",
                  "bin/kafka-topics.sh": images / "kafka-tool", "bin/kafka-broker-api-versions.sh": images / "kafka-tool"},
        "mysql": {"server": folder / "mysql-8.0", "mysql-entrypoint": images / "mysql-entrypoint"},
        "prometheus": {name: programs / name for name in ("prometheus", "promtool")},
        "grafana": {"grafana-health": images / "grafana-health"},
    }
    made = set()
    for name in sorted(services):
        image = services[name]["image"]
        if image in made or name not in files and not services[name].get("build"):
            continue
        made.add(image)
        if name in files:
            build(image, (images / f"{name}.Dockerfile").read_text(), files[name])
            say(f"NOTE: {image} is a stand-in here: {STAND_INS[name]}")
        else:
            epilogue_image(image, executable)
    unknown = {service["image"] for service in services.values()} - made
    if unknown:
        raise Failure(f"docker-compose.yml names {sorted(unknown)}, which tests/engine/images does not make")
