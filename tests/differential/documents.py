"""Generated documents, valid and broken, of every class that JSON readers are known to disagree on.

Each class is a marked method of Documents that returns one document, as bytes. What varies comes from the seed alone.
"""
import itertools
import json
import pathlib
import random
import re

MAX_BYTES = 16 << 20
MAX_DEPTH = 1024
MAX_ELEMENTS = 4096
RECORDINGS = pathlib.Path(__file__).resolve().parents[1] / "data" / "recordings"

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+|\s+', re.S)
ESCAPES = ["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0000", "\\u00e9", "\\u20AC",
           "\\ud83d\\ude00"]
BAD_ESCAPES = ["\\a", "\\x41", "\\u12", "\\u00g0", "\\U0041", "\\'", "\\0", "\\u", "\\ ", "\\\n", "\\é", "\\u+123",
               "\\u 123", "\\u12_3", "\\u0x12", "\\ud83d\\", "\\ud83d\\u", "\\ud83d\\ude0"]
SURROGATES = ["\\ud83d", "\\ude00", "\\uD83D\\uDE00", "\\ud800", "\\udfff", "\\udbff\\udfff", "\\ud800\\\\",
              "\\\\ud800", "\\uD83D\\n", "\\ufffd", "\U0001f600", "\ud7ff", "\ue000", "a", "\\u0041", "\\\""]
WORDS = ["true", "false", "null", "NaN", "Infinity", "-Infinity", "-NaN", "+Infinity", "nan", "inf", "Inf", "infinity",
         "True", "False", "None", "tru", "nul", "fals", "nulll", "truefalse", "true1", "NaNN", "Na", "Infinit",
         "-Infinit", "InfinityInfinity", "--Infinity", "- Infinity", "undefined", "t", "n", "N", "I", "-I", "nullnull"]
SPACES = [" ", "\t", "\n", "\r", "  ", "\r\n"]
BAD_SPACES = ["\x0b", "\x0c", "\x00", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff", "/**/", "//x\n",
              "#", "\\n", "\x1a", "\x08"]
BAD_BYTES = [b"\x80", b"\xbf", b"\xc0\xaf", b"\xc1\xbf", b"\xc3", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xe2\x82",
             b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98",
             b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff", b"\xff\xfe"]
GOOD_BYTES = ["\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufeff", "\uffff", "\U00010000", "\U0010ffff"]
SOUP = ['"a"', '"kind"', '"id"', '"', "{", "}", "[", "]", ":", ",", "1", "-0", "null", "true", " ", "\n", "\\",
        "{}", "[]", '"a":1', '"\\"', "''"]
CLASSES = []


def a_class(member):
    """Marks a method as one of the classes of documents."""
    CLASSES.append(member.__name__)
    return member


class Documents:
    """`wanted` names the members that our decoder keeps, as objects in each other: most names come from there."""

    # Small is enough of what takes long to read or to make.
    FEWER = {"nesting": 10, "many_digits": 50, "long_arrays": 200, "size_limit": 1000}

    def __init__(self, seed, wanted):
        self.random = random.Random(seed)
        self.wanted = wanted
        self.around_size_limit = itertools.cycle([MAX_BYTES - 1, MAX_BYTES, MAX_BYTES + 1])
        self.recorded = [json.loads(line) for path in sorted(RECORDINGS.rglob("*.jsonl"))
                         for line in path.open(encoding="utf-8")]

    def all(self, each):
        """(class, document), `each` of every class, of the slow ones fewer."""
        for name in CLASSES:
            for _ in range(max(1, each // self.FEWER.get(name, 1))):
                yield name, getattr(self, name)()

    # What documents are made of.

    def pick(self, choices):
        return choices[int(self.random.random() * len(choices))]

    def some(self, choices, most):
        return [self.pick(choices) for _ in range(int(self.random.random() * (most + 1)))]

    def space(self):
        return self.pick(SPACES) if self.random.random() < 0.1 else ""

    def string(self):
        pieces = self.some(["a", "kind", "é", "{", "}", "[", ",", ":", "'", "/", " ", "\U0001f600", *ESCAPES], 5)
        return '"' + "".join(pieces) + '"'

    def spelled(self, name):
        """A member's name in quotes, sometimes with some of its letters escaped."""
        if self.random.random() < 0.9:
            return f'"{name}"'
        return '"' + "".join(self.pick([c, c, f"\\u{ord(c):04x}", f"\\u{ord(c):04X}"]) for c in name) + '"'

    def name(self, wanted):
        return self.pick(list(wanted) or ["x"]) if self.random.random() < 0.8 else self.pick("xyz")

    def number(self):
        return self.pick(["0", "-0", "1", "-7", "42", "1.5", "-0.0", "1e3", "2E-2", str(self.random.getrandbits(40))])

    def scalar(self):
        return self.pick([self.string, self.string, self.number, lambda: self.pick(WORDS[:6])])()

    def value(self, wanted, depth=0):
        kind = self.random.random() + depth / 6
        if kind > 0.6:
            return self.scalar()
        if kind > 0.4:
            return self.array([self.value(wanted, depth + 1) for _ in range(self.random.randint(0, 3))])
        return self.object(wanted, depth)

    def array(self, elements):
        return "[" + self.space() + f"{self.space()},".join(elements) + self.space() + "]"

    def object(self, wanted, depth=0):
        members = []
        for _ in range(self.random.randint(0, 4)):
            name = self.name(wanted)
            members.append(f"{self.spelled(name)}{self.space()}:{self.space()}"
                           f"{self.value(wanted.get(name, {}), depth + 1)}{self.space()}")
        return "{" + self.space() + ",".join(members) + "}"

    def placed(self, fragment):
        """`fragment` where a value stands: alone, in an array, or in a member, kept or not; a string also as a key."""
        place = self.random.randrange(6 if fragment.startswith('"') else 5)
        if place == 0:
            return fragment
        if place == 1:
            elements = [self.scalar(), fragment, self.scalar()]
            return self.array(elements[self.random.randint(0, 1):self.random.randint(2, 3)])
        if place == 5:
            return f'{{"kind":"a",{fragment}:1}}'
        name, after = self.name(self.wanted), self.pick(["", ',"kind":"PauseEvent"', f',"x":{self.scalar()}'])
        return f'{{{self.spelled(name)}:{fragment}{after}}}'

    def tokens(self):
        return TOKEN.findall(self.object(self.wanted))

    # The classes.

    @a_class
    def valid(self):
        return self.value(self.wanted).encode()

    @a_class
    def top_level_values(self):
        return (self.space() + self.pick([self.scalar(), *self.some(WORDS, 1)]) + self.space()).encode()

    @a_class
    def recorded_events(self):
        """What was recorded, spelled in other ways."""
        return json.dumps(self.pick(self.recorded), ensure_ascii=self.random.random() < 0.5,
                          indent=self.pick([None, None, 1, "\t"]),
                          separators=self.pick([None, (",", ":"), (" , ", " :\n")])).encode()

    @a_class
    def recorded_events_damaged(self):
        return self.damaged(self.recorded_events())

    @a_class
    def duplicate_keys(self):
        names = self.some(list(self.wanted), 2) + ["kind"]
        members = [f"{self.spelled(name)}:{self.value(self.wanted.get(name, {}), 2)}" for name in names * 2]
        self.random.shuffle(members)
        return ("{" + ",".join(members) + "}").encode()

    @a_class
    def duplicate_keys_inside(self):
        name = self.pick([name for name, inner in self.wanted.items() if inner])
        inner = self.duplicate_keys().decode()
        return f'{{"{name}":{self.object(self.wanted[name], 1)},{self.spelled(name)}:{inner},"x":{inner}}}'.encode()

    @a_class
    def surrogates(self):
        return self.placed('"' + "".join(self.some(SURROGATES, 5)) + '"').encode()

    @a_class
    def escapes(self):
        pieces = self.some(ESCAPES, 3) + self.some(BAD_ESCAPES, 1) + self.some(["a", "u0041", "é"], 2)
        self.random.shuffle(pieces)
        return self.placed('"' + "".join(pieces) + '"').encode()

    @a_class
    def integers(self):
        near = self.pick([2**31, 2**53, 2**63, 2**64, 10**self.random.randint(15, 60)])
        digits = str(self.pick([1, -1]) * (near + self.random.randint(-2, 2)))
        return self.placed(self.pick(["", "", "", "", "0", "+", "-"]) + digits).encode()

    @a_class
    def many_digits(self):
        return self.placed(self.pick(["", "-"]) + "9" * self.random.randint(4298, 4303)).encode()

    @a_class
    def numbers(self):
        return self.placed("".join(self.some("00123456789--+..eE ", 7)) or "0").encode()

    @a_class
    def huge_exponents(self):
        mantissa = self.pick(["1", "-1", "0", "-0", "0.0", "9.99", "1" * 50, "0." + "3" * 400,
                              "-0." + "0" * 330 + "1"])
        exponent = self.pick(["308", "309", "-323", "-324", "999", "-999", "+999999999999", "0", "", "+", "-0", "00",
                              "1.5"])
        return self.placed(mantissa + self.pick("eE") + exponent).encode()

    @a_class
    def minus_zero(self):
        forms = ["-0", "-0.0", "-0e0", "-0E-5", "-00", "-", "--0", "- 0", "-0.", "-.0", "0-"]
        return self.placed(self.pick(forms)).encode()

    @a_class
    def words(self):
        return self.placed(self.pick(WORDS)).encode()

    @a_class
    def byte_order_marks(self):
        text = self.object(self.wanted)
        encoding = self.pick(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "utf-8-sig", "utf-8-sig"])
        if self.random.random() < 0.5:
            return text.encode(encoding)
        at = self.random.randint(0, len(text))
        return (text[:at] + "\ufeff" + text[at:]).encode()

    @a_class
    def nesting(self):
        depth = self.pick([self.random.randint(1, 60), self.random.randint(1015, 1035), self.random.randint(1, 3000)])
        openings = [self.pick(["[", '{"x":', '{"kind":', '{"action":', "[ "]) for _ in range(depth)]
        if self.random.random() < 0.3:
            openings = openings[:1] * depth
        closings = ["]" if opening.startswith("[") else "}" for opening in reversed(openings)]
        if self.random.random() < 0.2:
            closings[self.random.randrange(depth)] = self.pick(["", "]", "}", "]]", ",]"])
        return ("".join(openings) + self.scalar() + "".join(closings)).encode()

    @a_class
    def invalid_utf8(self):
        pieces = [piece.encode() for piece in self.tokens()] + [f'"{"".join(self.some(GOOD_BYTES, 3))}"'.encode()]
        at = self.random.randrange(len(pieces))
        inside = self.random.randint(0, len(pieces[at]))
        bad = self.pick(BAD_BYTES)
        pieces[at] = pieces[at][:inside] + bad + pieces[at][inside:]
        return b"".join(pieces)

    @a_class
    def edges_of_utf8(self):
        return self.placed('"' + "".join(self.some(GOOD_BYTES, 5)) + '"').encode()

    @a_class
    def trailing_text(self):
        after = self.pick(["x", "{}", ",", "\x00", "\x0c", "]", "}", " ", "\n", "\r\n", "//", "null", "1", '"', "\\",
                           ":", "[]"])
        return (self.value(self.wanted) + self.space() + after + self.space()).encode()

    @a_class
    def control_characters(self):
        text = self.object(self.wanted)
        at = self.random.randint(0, len(text))
        return (text[:at] + chr(self.random.randrange(0x21)) + text[at:]).encode()

    @a_class
    def control_characters_in_strings(self):
        pieces = self.some(["a", "\\n", "\\\\", "\\\""], 2)
        pieces.append(chr(self.pick([self.random.randrange(0x22), 0x7f, 0x80, 0x9f])))
        return self.placed('"' + "".join(pieces) + '"').encode()

    @a_class
    def white_space(self):
        strange = BAD_SPACES if self.random.random() < 0.5 else SPACES
        return "".join(token + "".join(self.some(SPACES + strange, 1)) for token in self.tokens()).encode()

    @a_class
    def tokens_damaged(self):
        tokens = self.tokens()
        at = self.random.randrange(len(tokens))
        other = self.random.randrange(len(tokens))
        change = self.random.randrange(4)
        if change == 0:
            del tokens[at]
        elif change == 1:
            tokens.insert(at, self.pick(SOUP))
        elif change == 2:
            tokens[at] = self.pick(SOUP)
        else:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        return "".join(tokens).encode()

    @a_class
    def token_soup(self):
        return "".join(self.some(SOUP, 9)).encode()

    def damaged(self, document):
        """With one to three bytes changed, taken out or put in."""
        changed = bytearray(document)
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(changed))
            byte = self.pick([self.random.randrange(256), *b'"\\{}[]:,'])
            changed[at:at + self.random.randint(0, 1)] = bytes([byte] * self.random.randint(0, 1))
        return bytes(changed)

    @a_class
    def bytes_damaged(self):
        return self.damaged(self.object(self.wanted).encode())

    @a_class
    def truncated(self):
        document = self.object(self.wanted).encode()
        return document[:self.random.randrange(len(document))]

    @a_class
    def long_arrays(self):
        length = self.pick([1, 100, MAX_ELEMENTS - 1, MAX_ELEMENTS, MAX_ELEMENTS + 1, MAX_ELEMENTS + 100])
        elements = ",".join([self.pick(['{"type":"text","text":"a"}', "1", "[]"])] * length)
        end = self.pick(["", "", ",", ",tru", ",{}"])
        return f'{{"kind":"MessageEvent","llm_message":{{"content":[{elements}{end}]}}}}'.encode()

    @a_class
    def size_limit(self):
        return self.object(self.wanted).encode().ljust(next(self.around_size_limit))

