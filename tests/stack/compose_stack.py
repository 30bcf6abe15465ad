"""docker-compose.yml as plain processes of this machine.

Words, environment, volumes and health checks come from docker-compose.yml. Rewritten are only addresses, ports and
folders, and the programs' names where an image has an entrypoint of its own. Needs PyYAML.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
KAFKA_SCRIPTS = {"/opt/kafka/bin/kafka-topics.sh": "org.apache.kafka.tools.TopicCommand"}
START_WITHIN_S = 60


class Failure(Exception):
    """A command did not do what the stack counts on."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def interpolated(text):
    """What compose makes of a string when none of the caller's variables is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(text)).replace("$$", "$")


def wait_until(what, condition, process):
    """Asks again and again, and gives up when the process has ended or START_WITHIN_S have passed."""
    deadline = time.monotonic() + START_WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not after {START_WITHIN_S} s")
        try:
            code = process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            continue
        raise Failure(f"{what}: its process ended with {code}")


class ComposeStack:
    def __init__(self, folder, executable, kafka, kafka_libs):
        self.services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
        self.folder = folder
        self.kafka = kafka
        self.kafka_libs = kafka_libs
        self.ports = {name: free_port() for name in ("worker", "mysql", "prometheus")}
        self.database = {}
        self.state = self._made("state")
        (self._made("bin") / "epilogue").symlink_to(pathlib.Path(executable).resolve())
        self.path = f"{folder / 'bin'}:{os.environ['PATH']}"

    def _made(self, name):
        (self.folder / name).mkdir()
        return self.folder / name

    def use_database(self, host, port, user, password, name):
        """A server that is not the stack's own; its password replaces the one that `keys` made."""
        self.database = {"EPILOGUE_DATABASE_HOST": host, "EPILOGUE_DATABASE_PORT": str(port),
                         "EPILOGUE_DATABASE_USER": user, "EPILOGUE_DATABASE_NAME": name}
        (self.state / "database.password").write_text(password + "\n")

    def use_mysql(self):
        """The stack's `mysql`."""
        self.database = {"EPILOGUE_DATABASE_HOST": "127.0.0.1", "EPILOGUE_DATABASE_PORT": str(self.ports["mysql"])}

    def rewritten(self, text):
        worker = self.ports["worker"]
        text = interpolated(text)
        for written, real in {
            "/var/lib/epilogue": str(self.state),
            "/run/epilogue": str(self.state),
            "/etc/prometheus/prometheus.yml": str(self.folder / "prometheus.yml"),
            "=/prometheus": f"={self.folder / 'prometheus'}",
            "0.0.0.0:9464": f"127.0.0.1:{worker}",
            "/127.0.0.1/9464": f"/127.0.0.1/{worker}",
            "=kafka:9092": f"={self.kafka}",
        }.items():
            text = text.replace(written, real)
        return text

    def words(self, name, program):
        """The command line of a service. `program` stands before its words, as the image's entrypoint would."""
        service = self.services[name]
        entrypoint = list(service.get("entrypoint", []))
        if entrypoint and entrypoint[0] in KAFKA_SCRIPTS:
            heap = self.services[name]["environment"]["KAFKA_HEAP_OPTS"].split()
            entrypoint = ["java", *heap, "-cp", f"{self.kafka_libs}/*", KAFKA_SCRIPTS[entrypoint[0]], *entrypoint[1:]]
        return [self.rewritten(word) for word in (entrypoint or program) + list(service.get("command", []))]

    def environment(self, name):
        result = {key: self.rewritten(value) for key, value in self.services[name].get("environment", {}).items()}
        if "EPILOGUE_KAFKA_BROKERS" in result:
            for key, written in {"EPILOGUE_KAFKA_BROKERS": "kafka:9092", "EPILOGUE_DATABASE_HOST": "mysql"}.items():
                if result.get(key) != written:
                    raise Failure(f"{name}: {key} is {result.get(key)}, expected {written}")
            result |= {"EPILOGUE_KAFKA_BROKERS": self.kafka} | self.database
        return result | {"PATH": self.path, "HOME": str(self.folder), "LANG": "C.UTF-8"}

    def start(self, name, output, program=("epilogue",), more=()):
        # In a folder of its own: a configuration file beside the caller must not help.
        return subprocess.Popen([*self.words(name, list(program)), *more], env=self.environment(name),
                                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def execute(self, name, words, stdin=""):
        """`docker compose exec -T NAME WORDS`: its standard output. Failure when its exit code is not 0."""
        done = subprocess.run(words, env=self.environment(name), cwd=self.folder, input=stdin, text=True,
                              capture_output=True, timeout=START_WITHIN_S)
        if done.returncode != 0:
            raise Failure(f"{name}: {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def healthy(self, name):
        """Asks once, by the service's own health check."""
        kind, *words = [self.rewritten(word) for word in self.services[name]["healthcheck"]["test"]]
        if kind == "CMD-SHELL":
            words = ["sh", "-c", *words]
        elif kind != "CMD":
            raise Failure(f"{name}: a healthcheck of kind {kind} is not known here")
        environment = {"PATH": self.path, "MYSQL_TCP_PORT": str(self.ports["mysql"])}
        return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, timeout=20,
                              capture_output=True).returncode == 0

    def grace(self, name):
        return float(self.services[name].get("stop_grace_period", "10s").removesuffix("s"))

    def write_prometheus_config(self):
        """The mounted file. Its search by DNS becomes the one address at which our worker listens."""
        mount = [v for v in self.services["prometheus"]["volumes"] if ":/etc/prometheus/prometheus.yml:" in v]
        config = yaml.safe_load((ROOT / mount[0].split(":")[0]).read_text())
        for job in config["scrape_configs"]:
            if job.pop("dns_sd_configs", None):
                job["static_configs"] = [{"targets": [f"127.0.0.1:{self.ports['worker']}"]}]
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump(config))

    def mysql_client(self):
        client = shutil.which("mysql")
        if not client:
            raise Failure("mysql: the client is missing; ops/setup test installs it")
        return [client, "--no-defaults", "-h127.0.0.1", f"-P{self.ports['mysql']}"]
