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
KAFKA_SCRIPTS = {"/opt/kafka/bin/kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
                 "/opt/kafka/bin/kafka-broker-api-versions.sh": "org.apache.kafka.tools.BrokerApiVersionsCommand"}
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
        """`kafka`: the address of a broker, or None for the stack's own; `kafka_libs`: a folder with its jars."""
        self.services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
        self.folder = folder
        self.kafka_libs = kafka_libs
        self.ports = {name: free_port() for name in ("kafka", "controller", "worker", "relay", "mysql", "prometheus")}
        self.kafka = kafka or f"127.0.0.1:{self.ports['kafka']}"
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
        worker, relay, broker, controller = (self.ports[name] for name in ("worker", "relay", "kafka", "controller"))
        text = interpolated(text)
        for written, real in {
            "/var/lib/epilogue": str(self.state),
            "/run/epilogue": str(self.state),
            "/etc/prometheus/prometheus.yml": str(self.folder / "prometheus.yml"),
            "/etc/prometheus/consoles": str(self.folder / "consoles"),
            "=/prometheus": f"={self.folder / 'prometheus'}",
            "0.0.0.0:9464": f"127.0.0.1:{worker}",
            "/127.0.0.1/9464": f"/127.0.0.1/{worker}",
            "0.0.0.0:9465": f"127.0.0.1:{relay}",
            "/127.0.0.1/9465": f"/127.0.0.1/{relay}",
            "/var/lib/kafka/data": str(self.folder / "kafka/data"),
            "PLAINTEXT://:9092": f"PLAINTEXT://127.0.0.1:{broker}",
            "CONTROLLER://:9093": f"CONTROLLER://127.0.0.1:{controller}",
            "1@localhost:9093": f"1@127.0.0.1:{controller}",
            "localhost:9092": f"127.0.0.1:{broker}",
            "kafka:9092": self.kafka,
        }.items():
            text = text.replace(written, real)
        return text

    def java(self, name, main_class):
        """The start of a command line that runs a program of Kafka's, with the memory that the service allows."""
        heap = self.services[name]["environment"]["KAFKA_HEAP_OPTS"].split()
        return ["java", *heap, "-cp", f"{self.kafka_libs}/*", main_class]

    def runnable(self, name, words):
        """A command line of the service, for this machine."""
        if words and words[0] in KAFKA_SCRIPTS:
            words = [*self.java(name, KAFKA_SCRIPTS[words[0]]), *words[1:]]
        return [self.rewritten(word) for word in words]

    def words(self, name, program):
        """What the service starts. `program` stands before its words, as its image's entrypoint would."""
        service = self.services[name]
        return self.runnable(name, list(service.get("entrypoint", program)) + list(service.get("command", [])))

    def environment(self, name):
        written = self.services[name].get("environment", {})
        result = {key: self.rewritten(value) for key, value in written.items()}
        if "EPILOGUE_KAFKA_BROKERS" in written:
            if written["EPILOGUE_KAFKA_BROKERS"] != "kafka:9092" or written.get("EPILOGUE_DATABASE_HOST") != "mysql":
                raise Failure(f"{name}: wants kafka:9092 and mysql, by the names they have in the stack")
            result |= self.database
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
        kind, *words = self.services[name]["healthcheck"]["test"]
        words = self.runnable(name, words)
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
        """The mounted files. Each search by DNS becomes the one address at which our worker or relay listens."""
        for volume in self.services["prometheus"]["volumes"]:
            source, target = volume.split(":")[:2]
            if target.startswith("/etc/prometheus/"):
                copy = self.folder / target.removeprefix("/etc/prometheus/")
                copy.parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / source, copy)
        config = yaml.safe_load((self.folder / "prometheus.yml").read_text())
        for job in config["scrape_configs"]:
            for found in job.pop("dns_sd_configs", []):
                job["static_configs"] = [{"targets": [f"127.0.0.1:{self.ports[name]}" for name in found["names"]]}]
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump(config))

    def mysql_client(self):
        client = shutil.which("mysql")
        if not client:
            raise Failure("mysql: the client is missing; ops/setup test installs it")
        return [client, "--no-defaults", "-h127.0.0.1", f"-P{self.ports['mysql']}"]
