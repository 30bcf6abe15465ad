#!/usr/bin/python3
"""What the relay's bench row talks to: agent servers' side of both doors, and the reader of the topic.

relay_load.py serve PORT CONVERSATIONS PER_S SECONDS   a 1.58 server; tells events once all conversations are followed
relay_load.py post PORT KEY CONVERSATIONS SECONDS      posts batches of five events, as fast as they are answered
relay_load.py read BROKERS TOPIC EVENTS                the delays from an event's making to its reading

Each prints one line of JSON at its end.
"""
import asyncio
import base64
import hashlib
import json
import random
import sys
import time
import uuid


def conversation(number):
    return uuid.UUID(int=(0x5E << 120) + number).hex


def event(number):
    """An observation of usual size that says when it was made."""
    return json.dumps({"id": str(uuid.uuid4()), "kind": "ObservationEvent", "source": "environment",
                       "timestamp": "2026-11-23T10:00:00.000000", "made_ns": time.time_ns(), "number": number,
                       "text": "x" * 450})


async def head_of(reader):
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    return lines[0].split(" "), {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:] if line)}


def answer(writer, status, body):
    text = body.encode()
    writer.write(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(text)) + text)


def frame(text):
    data = text.encode()
    size = len(data)
    head = bytes([0x81, size]) if size < 126 else bytes([0x81, 126]) + size.to_bytes(2, "big")
    return head + data


class Server:
    def __init__(self, conversations, per_s, seconds):
        self.ids = [conversation(i) for i in range(conversations)]
        self.logs = {each: [] for each in self.ids}
        self.sockets = {}
        self.per_s, self.seconds = per_s, seconds
        self.done = asyncio.Event()

    async def connected(self, reader, writer):
        try:
            while True:
                (method, target, *_), headers = await head_of(reader)
                path, _, query = target.partition("?")
                if headers.get("upgrade", "").lower() == "websocket":
                    return await self.socket(path.rsplit("/", 1)[1].replace("-", ""), query, headers, reader, writer)
                if path == "/server_info":
                    answer(writer, 200, json.dumps({"version": "1.58.0", "title": "OpenHands Agent Server"}))
                elif path == "/api/conversations/search":
                    start = int(dict(p.split("=") for p in query.split("&") if "=" in p).get("page_id") or 0)
                    more = {"next_page_id": str(start + 50)} if start + 50 < len(self.ids) else {}
                    answer(writer, 200, json.dumps({"items": [{"id": i} for i in self.ids[start:start + 50]], **more}))
                elif path.endswith("/events/count"):
                    answer(writer, 200, str(len(self.logs.get(path.split("/")[3].replace("-", ""), []))))
                elif path.endswith("/events/search"):
                    log = self.logs.get(path.split("/")[3].replace("-", ""), [])
                    answer(writer, 200, '{"items":[' + ",".join(log[-100:]) + "]}")
                else:
                    answer(writer, 200, "{}")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def socket(self, cid, query, headers, reader, writer):
        key = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                                            .encode()).digest()).decode()
        writer.write(f"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {key}\r\n\r\n".encode())
        while True:
            two = await reader.readexactly(2)
            size = two[1] & 0x7F
            if size == 126:
                size = int.from_bytes(await reader.readexactly(2), "big")
            mask = await reader.readexactly(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(await reader.readexactly(size)))
            if two[0] & 0x0F == 9:
                writer.write(bytes([0x8A, len(data)]) + data)
            elif two[0] & 0x0F == 8:
                self.sockets.pop(cid, None)
                return
            elif two[0] & 0x0F == 1:  # the key
                log = self.logs[cid]
                writer.write(frame(json.dumps({"type": "sync", "from_seq": 0, "through_seq": len(log) - 1})))
                for seq, each in enumerate(log):
                    writer.write(frame('{"type":"durable","seq":%d,"event":%s}' % (seq, each)))
                self.sockets[cid] = writer

    async def tell(self):
        began = time.monotonic()
        while len(self.sockets) < len(self.ids):
            await asyncio.sleep(0.1)
        print(json.dumps({"followed_after_s": time.monotonic() - began}), file=sys.stderr, flush=True)
        await asyncio.sleep(3)
        beat, told, late = 0.005, 0, 0.0
        start = time.monotonic()
        for tick in range(int(self.seconds / beat)):
            due = start + tick * beat
            late = max(late, time.monotonic() - due)
            if due > time.monotonic():
                await asyncio.sleep(due - time.monotonic())
            while told < self.per_s * (tick + 1) * beat:
                cid = random.choice(self.ids)
                text = event(told)
                log = self.logs[cid]
                log.append(text)
                if cid in self.sockets:
                    self.sockets[cid].write(frame('{"type":"durable","seq":%d,"event":%s}' % (len(log) - 1, text)))
                told += 1
        print(json.dumps({"told": told, "late_s": late}), flush=True)
        self.done.set()
        await asyncio.sleep(3600)


async def serve(port, conversations, per_s, seconds):
    server = Server(conversations, per_s, seconds)
    async with await asyncio.start_server(server.connected, "127.0.0.1", port, backlog=4096):
        await server.tell()


async def post(port, key, conversations, seconds):
    end = time.monotonic() + seconds
    delays = []

    async def sender(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            cid = conversation(number * 31 % conversations)
            body = ("[" + ",".join(event(0) for _ in range(5)) + "]").encode()
            began = time.monotonic()
            writer.write(b"POST /events/%s HTTP/1.1\r\nHost: x\r\nX-Session-API-Key: %s\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n" % (cid.encode(), key.encode(), len(body)) + body)
            (_, status, *_), headers = await head_of(reader)
            await reader.readexactly(int(headers["content-length"]))
            if status != "200":
                raise RuntimeError(f"answered {status}")
            delays.append(time.monotonic() - began)

    began = time.monotonic()
    await asyncio.gather(*(sender(i) for i in range(64)))
    took = time.monotonic() - began
    delays.sort()
    print(json.dumps({"events": 5 * len(delays), "seconds": took, "p99_s": delays[int(0.99 * (len(delays) - 1))]}), flush=True)


def read(brokers, topic, events):
    from confluent_kafka import Consumer
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "reads-" + topic, "auto.offset.reset": "earliest",
                         "fetch.wait.max.ms": 5})
    consumer.subscribe([topic])
    delays, quiet = [], time.monotonic() + 120
    while len(delays) < events and time.monotonic() < quiet:
        for message in consumer.consume(1000, 0.005):
            now = time.time_ns()
            if message.error() is None:
                delays.append((now - json.loads(message.value())["made_ns"]) / 1e9)
                quiet = time.monotonic() + 20
    consumer.close()
    delays.sort()
    at = lambda part: delays[int(part * (len(delays) - 1))] if delays else -1
    print(json.dumps({"read": len(delays), "p50_s": at(0.5), "p99_s": at(0.99), "highest_s": at(1)}), flush=True)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "serve":
        asyncio.run(serve(*(int(each) for each in rest)))
    elif what == "post":
        asyncio.run(post(int(rest[0]), rest[1], int(rest[2]), float(rest[3])))
    else:
        read(rest[0], rest[1], int(rest[2]))
