"""The fake platform on this room's loopback, and the door by which containers reach it."""
import contextlib
import json
import socket
import subprocess
import threading
import urllib.request

PORT = 8088  # of platform.yml


def passed_on(source, target):
    """Bytes from one connection to the other, until either ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def open_door(port):
    """Containers come in by the host's address on their network; the platform listens on loopback alone."""
    listener = socket.create_server(("0.0.0.0", PORT), backlog=64)  # of a network namespace that nobody else is in

    def serve():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=passed_on, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


class FakeGithub:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]
        open_door(self.port)

    def bodies(self):
        """What stands in each issue now: "owner/name#number" → the bodies, oldest first."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_control/visible", timeout=30) as answer:
            comments = json.load(answer)
        found = {}
        for comment in comments:
            found.setdefault(comment["path"], []).append(comment["body"])
        return found
