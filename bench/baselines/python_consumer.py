#!/usr/bin/python3
"""Baseline: what one would write in an afternoon. Decodes each event, folds the conversation's status, writes what
changed and the positions in one transaction a batch. It keeps no digest, no turns, no timers, and posts nothing.

python_consumer.py BROKERS TOPIC EVENTS PORT USER PASSWORD DATABASE; one line of JSON when it is through.
"""
import json
import resource
import sys
import time

import pymysql
from confluent_kafka import Consumer

brokers, topic, events, port, user, password, database = sys.argv[1:8]
wanted = int(events)
tables = pymysql.connect(host="127.0.0.1", port=int(port), user=user, password=password, database=database)
cursor = tables.cursor()
cursor.execute("CREATE TABLE plain (id VARBINARY(255) PRIMARY KEY, status VARCHAR(64), words MEDIUMTEXT, events BIGINT)")
cursor.execute("CREATE TABLE positions (part INT PRIMARY KEY, next BIGINT)")
consumer = Consumer({"bootstrap.servers": brokers, "group.id": "python", "auto.offset.reset": "earliest",
                     "enable.auto.commit": False})
consumer.subscribe([topic])

known = {}  # conversation -> [status, words, events]
began = done = size = 0
while done < wanted:
    messages = consumer.consume(5000, 0.05)
    if not messages:
        continue
    began = began or time.monotonic()
    changed, positions = set(), {}
    for message in messages:
        size += len(message.value())
        event = json.loads(message.value())
        conversation = message.key().decode().replace("-", "").lower()
        state = known.setdefault(conversation, ["", "", 0])
        if event.get("kind") == "ConversationStateUpdateEvent" and event.get("key") == "execution_status":
            state[0] = event["value"]
        elif event.get("kind") == "MessageEvent" and event.get("source") == "agent":
            state[1] = "\n".join(part.get("text", "") for part in event["llm_message"]["content"])
        elif event.get("kind") == "ActionEvent" and event.get("tool_name") == "finish":
            state[1] = (event.get("action") or {}).get("message") or ""
        state[2] += 1
        changed.add(conversation)
        positions[message.partition()] = message.offset() + 1
    cursor.executemany("INSERT INTO plain VALUES (%s,%s,%s,%s) ON DUPLICATE KEY UPDATE status=VALUES(status), "
                       "words=VALUES(words), events=VALUES(events)", [(c, *known[c]) for c in sorted(changed)])
    cursor.executemany("REPLACE INTO positions VALUES (%s,%s)", sorted(positions.items()))
    tables.commit()
    done += len(messages)
took = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"events": done, "bytes": size, "seconds": took, "cpu_s": used.ru_utime + used.ru_stime,
                  "peak_mb": used.ru_maxrss / 1024}))
