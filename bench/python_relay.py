#!/usr/bin/python3
"""Baseline: what one would write in an afternoon. A webhook receiver that answers once Kafka has the batch, and a
follower that produces what sockets say. It keeps no positions, finds no gaps, and knows no owners.

python_relay.py webhook BROKERS TOPIC PORT
python_relay.py follow BROKERS TOPIC PORT CONVERSATIONS
"""
import asyncio
import base64
import json
import os
import sys

from confluent_kafka import Producer
from relay_load import answer, conversation, head_of

what, brokers, topic, port = sys.argv[1:5]
producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True, "compression.type": "zstd", "linger.ms": 5})


def produce(cid, value, told):
    producer.produce(topic, key=cid, value=value, on_delivery=lambda error, _: told(error))


async def poll():
    while True:
        producer.poll(0)
        await asyncio.sleep(0.001)


async def connected(reader, writer):
    loop = asyncio.get_running_loop()
    try:
        while True:
            (_, target, *_), headers = await head_of(reader)
            events = json.loads(await reader.readexactly(int(headers["content-length"])))
            cid = target.rsplit("/", 1)[1].replace("-", "").lower()
            waits = []
            for event in events:
                done = loop.create_future()
                waits.append(done)
                produce(cid, json.dumps(event), done.set_result)
            failed = any(await asyncio.gather(*waits))
            answer(writer, 503 if failed else 200, "{}")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def follow(cid):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(f"GET /sockets/session/{cid}?after_seq=-1 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                 f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    auth = b'{"type":"auth","session_api_key":"k"}'
    writer.write(bytes([0x81, 0x80 | len(auth), 0, 0, 0, 0]) + auth)
    while True:
        two = await reader.readexactly(2)
        size = two[1] & 0x7F
        if size == 126:
            size = int.from_bytes(await reader.readexactly(2), "big")
        message = json.loads(await reader.readexactly(size))
        if message["type"] == "durable":
            produce(cid, json.dumps(message["event"]), lambda error: None)


async def main():
    polling = asyncio.create_task(poll())
    if what == "webhook":
        async with await asyncio.start_server(connected, "127.0.0.1", int(port)):
            await polling
    await asyncio.gather(polling, *(follow(conversation(i)) for i in range(int(sys.argv[5]))))


asyncio.run(main())
