#!/usr/bin/env python3
"""The webhooks that we send, checked by the reference verifier of Standard Webhooks; they and log lines by schemas/json/outcome.json.

The examples are made by unit_sinks_webhook_examples, those of the log by unit_sinks_log_log. The verifier refuses old messages, so its clock is set to theirs.
"""
import base64
import datetime
import json
import pathlib
import sys

import jsonschema
import standardwebhooks.webhooks as reference

root = pathlib.Path(__file__).resolve().parents[2]
schema = json.loads((root / "schemas/json/outcome.json").read_text(encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())


class Clock(datetime.datetime):
    """The verifier's clock: at the second of the message."""

    at = 0

    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(cls.at, tz)


reference.datetime = Clock


def accepts(secret, body, headers):
    try:
        reference.Webhook(secret).verify(body, headers)
    except reference.WebhookVerificationError:
        return False
    return True


def complaints_about(example):
    body, headers = example["body"], example["headers"]
    Clock.at = int(headers["webhook-timestamp"])
    yield from (error.message for error in validator.iter_errors(json.loads(body)))
    if headers["webhook-id"] != json.loads(body)["data"]["delivery"]:
        yield "the id of the header is another than the body's"
    for secret in example["secrets"]:
        if not accepts(secret, body, headers):
            yield "a signature is refused"
        if accepts(secret, body + " ", headers):
            yield "a changed body is accepted"
        if accepts(secret, body, {**headers, "webhook-id": "another"}):
            yield "a changed id is accepted"
    if accepts("whsec_" + base64.b64encode(b"\1" * 24).decode(), body, headers):
        yield "a foreign secret is accepted"
    Clock.at += 3600
    if accepts(example["secrets"][0], body, headers):
        yield "an hour later it is still accepted: the verifier's clock is not the one set here"


examples = sorted((root / "tests/golden/webhook").glob("*.json"))
wrong = [f"{path.name}: {each}" for path in examples
         for each in complaints_about(json.loads(path.read_text(encoding="utf-8")))]
lines = sorted((root / "tests/golden/log").glob("*.json"))
wrong += [f"log {path.name}: {error.message}" for path in lines
          for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))]
if len(examples) < 3 or not lines:
    wrong.append("there are fewer than three examples of webhooks, or none of log lines")
print("\n".join(wrong) or f"{len(examples)} webhooks, all of them verified and as the schema has them; {len(lines)} log lines, too")
sys.exit(1 if wrong else 0)
