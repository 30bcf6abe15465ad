#!/usr/bin/env python3
"""Writes json_traps.jsonl: documents that JSON readers disagree on, each with what Python's json says.

Python writes the events, so what Python reads is what Epilogue has to read. The documents are given in
hex, because some of them are no text. Usage: make_json_traps.py > json_traps.jsonl
"""

import json

VALUES = [
    # Numbers.
    b"0", b"-0", b"1", b"-1", b"01", b"-01", b"00", b"1.", b".5", b"-.5", b"-", b"+1", b"1.5", b"1.50e+10",
    b"1e5", b"1E-5", b"1e", b"1e+", b"1.e5", b"0e0", b"0x10", b"1_000", b"1 000", b"--1", b"1-", b"1e1.5",
    b"123456789012345678901234567890", b"-9223372036854775809", b"1e999", b"-1e999", b"1e-999",
    b"0." + b"3" * 400, b"NaN", b"Infinity", b"-Infinity", b"-NaN", b"+Infinity", b"nan", b"inf", b"Inf",
    # Words.
    b"true", b"false", b"null", b"True", b"None", b"nul", b"nulll", b"truefalse", b"undefined", b"'a'",
    # Strings.
    b'""', b'"a"', b'"a', b'"\\"', b'"\\\\"', b'"\\a"', b'"\\u00e9"', b'"\\u00E9"', b'"\\u00g0"', b'"\\u12"',
    b'"\\U0041"', b'"\\x41"', b'"\\/\\b\\f\\n\\r\\t"', b'"\\u0000"', b'"\\ud83d\\ude00"', b'"\\ud800"',
    b'"\\udc00"', b'"\\ud800\\u0041"', b'"\\ud800\\ud800\\udc00"', b'"\n"', b'"\t"', b'"\x00"', b'"\x1f"',
    b'"\x7f"', b'"\xc3\xa9"', b'"\xe2\x80\xa8"', b'"\xf0\x9f\x98\x80"', b'"\xff"', b'"\xc3"', b'"\xc0\xaf"',
    b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"a" "b"', b'"a""b"', b'"a"b', b'"a"\\', b'"a":1', b'["a":1]',
    # Structure.
    b"[]", b"{}", b"[ ]", b"[1,]", b"[,1]", b"[,]", b"[1 2]", b"[1,,2]", b"[1:2]", b"[1}", b"[1", b"]", b"",
    b'{"a":1,}', b"{,}", b'{"a"}', b'{"a":}', b'{"a" 1}', b"{a:1}", b"{1:1}", b"{null:1}", b'{"a":1 "b":2}',
    b'{"a":1,"a":2}', b'{"a"::1}', b'{"a":1]', b'{"a\\q":1}', b'"a":1}', b"[[[[[[[[]]]]]]]]", b"[1]]", b"{}}",
    # White space and comments.
    b" \t\r\n1 \t\r\n", b"\x0b1", b"\x0c1", b"1\x0c", b"[1\x0c,2]", b"[1\x1a2]", b"\xc2\xa01", b"/* */1",
    b"1 // one", b"1#", b"\x001",
]

DOCUMENTS = [
    b"", b" ", b"\n", b"1", b'"kind"', b"null", b"NaN", b"[]", b"{}", b"tru", b"[", b"{", b"}", b'"', b"\\",
    b'{"kind":"PauseEvent","id":"a"}', b' {"kind":"PauseEvent","id":"a"}\r\n',
    b'{"kind":"PauseEvent","id":"a"}x', b'{"kind":"PauseEvent","id":"a"}{}', b'{"kind":"PauseEvent","id":"a"}}',
    b'{"kind":"PauseEvent","id":"a"},', b'{"kind":"PauseEvent","id":"a"}\x00', b'{"kind":"PauseEvent","id":"a"}\x0c',
    b'{"kind":"PauseEvent","id":"a"', b'{"kind":"PauseEvent","id":"a","later":tru}',
    b'\xef\xbb\xbf{"kind":"PauseEvent","id":"a"}', b'{"k\\u0069nd":"PauseEvent","id":"a"}',
    '{"kind":"PauseEvent","id":"a"}'.encode("utf-16"), b"{'kind':'PauseEvent'}",
]


def accepted(document):
    try:
        json.loads(document.decode("utf-8"))
    except ValueError:  # also of the decoding
        return False
    return True


for document in DOCUMENTS + [b'{"kind":"PauseEvent","id":"a","x":' + value + b"}" for value in VALUES]:
    row = {"accepted": accepted(document), "shown": ascii(document)[2:-1], "hex": document.hex()}
    print(json.dumps(row))
