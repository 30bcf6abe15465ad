#!/usr/bin/python3
"""Baseline: python_consumer.py with posts. What ended in a batch is posted to Slack, IN_FLIGHT at a time, then the
batch and its positions are written and committed; it begins where the table of positions stands. It keeps no turns,
waits for nothing that may revoke an end, and looks for no post of its own.

python_poster.py BROKERS TOPIC GROUP PORT USER PASSWORD DATABASE URL TOKEN IN_FLIGHT; runs until it is killed.
"""
import http.client
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pymysql
from confluent_kafka import Consumer, TopicPartition

brokers, topic, group, port, user, password, database, url, token, in_flight = sys.argv[1:11]
tables = pymysql.connect(host="127.0.0.1", port=int(port), user=user, password=password, database=database)
cursor = tables.cursor()
cursor.execute("CREATE TABLE IF NOT EXISTS plain (id VARBINARY(255) PRIMARY KEY, status VARCHAR(64), words MEDIUMTEXT)")
cursor.execute("CREATE TABLE IF NOT EXISTS positions (part INT PRIMARY KEY, next BIGINT)")
tables.commit()
address = urlsplit(url)
connections = threading.local()


def post(conversation, words):
    if not hasattr(connections, "one"):
        connections.one = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    connections.one.request("POST", address.path + "/chat.postMessage",
                            json.dumps({"channel": "C" + conversation, "text": words or "The agent has ended."}),
                            {"Content-Type": "application/json", "Authorization": "Bearer " + token})
    connections.one.getresponse().read()


def begin(consumer, partitions):
    cursor.execute("SELECT part, next FROM positions")
    stored = dict(cursor.fetchall())
    for partition in partitions:
        partition.offset = stored.get(partition.partition, partition.offset)
    consumer.assign(partitions)


def words_of(event):
    if event.get("kind") == "MessageEvent" and event.get("source") == "agent":
        return "\n".join(part.get("text", "") for part in event["llm_message"]["content"])
    if event.get("kind") == "ActionEvent" and event.get("tool_name") == "finish":
        return (event.get("action") or {}).get("message") or ""
    return None


cursor.execute("SELECT id, status, words FROM plain")
known = {row[0].decode(): [row[1], row[2]] for row in cursor.fetchall()}
consumer = Consumer({"bootstrap.servers": brokers, "group.id": group, "auto.offset.reset": "earliest",
                     "enable.auto.commit": False, "session.timeout.ms": 6000})
consumer.subscribe([topic], on_assign=begin)
with ThreadPoolExecutor(int(in_flight)) as pool:
    while True:
        changed, positions, posts = set(), {}, []
        for message in consumer.consume(5000, 0.05):
            event = json.loads(message.value())
            conversation = message.key().decode().replace("-", "").lower()
            state = known.setdefault(conversation, ["", ""])
            words = words_of(event)
            if words is not None:
                state[1] = words
            if event.get("kind") == "ConversationStateUpdateEvent" and event.get("key") == "execution_status":
                if event["value"] in ("finished", "error", "stuck") and state[0] != event["value"]:
                    posts.append((conversation, state[1]))
                state[0] = event["value"]
            changed.add(conversation)
            positions[message.partition()] = message.offset() + 1
        if not positions:
            continue
        list(pool.map(lambda ended: post(*ended), posts))
        cursor.executemany("INSERT INTO plain VALUES (%s,%s,%s) ON DUPLICATE KEY UPDATE status=VALUES(status), "
                           "words=VALUES(words)", [(c, *known[c]) for c in sorted(changed)])
        cursor.executemany("REPLACE INTO positions VALUES (%s,%s)", sorted(positions.items()))
        tables.commit()
        consumer.commit(offsets=[TopicPartition(topic, part, following) for part, following in positions.items()],
                        asynchronous=True)
