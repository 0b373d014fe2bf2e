"""Long fuzzing of the Protobuf parser, printer, linker and checker.

No input may make them hang, exhaust the stack, or raise anything but InvalidSchema. Run it for as long as you like:

    python tests/fuzz/fuzz_protobuf.py --seconds 600 --seed 1
"""

from __future__ import annotations

import argparse
import base64
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from compat.budget import TooMuchWork
from compat.protobuf import FORMAT, ProtobufSchema
from compat.protobuf.text.lexer import tokenize
from compat.schema import PROTOBUF, Dependency, InvalidSchema, SchemaText

CASES = Path(__file__).resolve().parents[1] / "compat" / "cases"
WORDS = (
    *("message", "enum", "oneof", "extend", "extensions", "reserved", "option", "service", "rpc", "returns", "stream"),
    *("group", "map", "<", ">", "{", "}", "[", "]", "(", ")", ";", ",", "=", "-", ".", ":", "/", "//", "/*", "*/", "#"),
    *("optional", "repeated", "required", "int32", "string", "M", "E", ".M", "M.E", "a.b", "default", "json_name"),
    *("syntax", "edition", "import", "package", "public", "weak", "to", "max", "inf", "nan", "true", "1", "0", "-1"),
    *("0x", "1e999", "99999999999999999999", "1.5", '"', "'", '"x"', '"\\', "\\", "\0", "é", "\ud800", "\ufeff", "\n"),
)
#: Seconds that one input may take; inputs are at most some kilobytes.
LIMIT = 5.0


def seeds() -> list[str]:
    """Texts to begin with: the golden cases."""
    texts = [path.read_text() for path in sorted(CASES.glob("protobuf*/**/*.proto"))]
    texts += [part for path in sorted(CASES.glob("protobuf-protoc/*.txt")) for part in path.read_text().split("-" * 40)]
    return texts


def by_tokens(text: str, choose: random.Random) -> str:
    """Tokens left out, doubled, swapped or replaced."""
    try:
        tokens = [token for token in tokenize(text) if token]
    except InvalidSchema:
        tokens = text.split()
    for _ in range(choose.randint(1, 6)):
        i = choose.randrange(len(tokens) + 1)
        match choose.randrange(4):
            case 0:
                del tokens[i : i + choose.randint(1, 4)]
            case 1:
                tokens[i:i] = tokens[i : i + 8] * choose.randint(1, 40)
            case 2:
                tokens.insert(i, choose.choice(WORDS))
            case _:
                tokens[i : i + 1] = [choose.choice(tokens or list(WORDS))]
    return choose.choice((" ", "\n", "")).join(tokens)


def by_characters(text: str, choose: random.Random) -> str:
    """Characters replaced, cut out or put in."""
    for _ in range(choose.randint(1, 8)):
        i = choose.randrange(len(text) + 1)
        text = text[:i] + choose.choice((*WORDS, "", chr(choose.randrange(0x3000)))) + text[i + choose.randint(0, 3) :]
    return text


def unchanged(text: str, _: random.Random) -> str:
    """The text as it is, to be compared with another."""
    return text


def by_words(_: str, choose: random.Random) -> str:
    """Words of the language in any order."""
    return " ".join(choose.choices(WORDS, k=choose.randint(1, 60)))


def by_depth(_: str, choose: random.Random) -> str:
    """One piece many times over."""
    opening = choose.choice(
        ("message M {", "option a = {b:", "option a = {b:[{", "(", "[", "{", "a.", "/*", '"\\', "oneof o {", "map<")
    )
    return opening * choose.choice((10, 100, 5000)) + choose.choice(("", "}" * 100, "1" * 100))


def by_descriptor(text: str, choose: random.Random) -> str:
    """A descriptor with bytes changed, in base64."""
    try:
        schema = FORMAT.parse(SchemaText(PROTOBUF, text), (), False)
        serialized = bytearray(base64.b64decode(schema.rendered("serialized")))
    except InvalidSchema:
        serialized = bytearray(FileDescriptorProto(name="x", package="p").SerializeToString())
    for _ in range(choose.randint(0, 6)):
        if serialized:
            serialized[choose.randrange(len(serialized))] = choose.randrange(256)
    return base64.b64encode(bytes(serialized)).decode()


MUTATORS: tuple[Callable[[str, random.Random], str], ...] = (
    by_tokens,
    by_tokens,
    by_characters,
    unchanged,
    by_words,
    by_depth,
    by_descriptor,
)


def mutant(texts: list[str], choose: random.Random) -> str:
    """One input."""
    return choose.choice(MUTATORS)(choose.choice(texts), choose)


def exercise(text: str, other: str) -> Counter[str]:
    """Do everything that can be done with a text; InvalidSchema is counted, all else is raised."""
    done: Counter[str] = Counter()
    dependencies = (Dependency("shared.proto", other), Dependency("n.proto", other))
    schemas: list[ProtobufSchema] = []
    for source in (text, other):
        try:
            schema = FORMAT.parse(SchemaText(PROTOBUF, source), dependencies, False)
        except InvalidSchema:
            done["refused"] += 1
            continue
        assert isinstance(schema, ProtobufSchema)
        schemas.append(schema)
        canonical = schema.canonical
        if FORMAT.locate(schema, ()) is not None:
            again = FORMAT.parse(SchemaText(PROTOBUF, canonical), dependencies, False)
            assert isinstance(again, ProtobufSchema)
            assert again.tree == schema.tree, "printing and parsing are not inverse"
        for step in (schema.normalized, lambda s=schema: s.rendered("serialized"), lambda s=schema: s.linked):
            try:
                step()
                done["done"] += 1
            except InvalidSchema:
                done["refused"] += 1
        schema.rendered("ignore_extensions")
        _ = (schema.full_name, schema.top_level_fields)
    if len(schemas) == 2:
        try:
            for difference in FORMAT.differences(schemas[0], schemas[1]):
                FORMAT.message(difference, "new", "old")
                FORMAT.locate(schemas[0], difference.reader_at or ())
            done["compared"] += 1
        except (InvalidSchema, TooMuchWork):
            done["refused"] += 1
    return done


def main() -> int:
    """Fuzz until the time is over; the failing input is printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    texts, done, runs = seeds(), Counter[str](), 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        text, other = mutant(texts, choose), choose.choice(texts)
        begun = time.monotonic()
        try:
            done += exercise(text, other)
        except Exception:
            sys.stdout.write(f"input: {text!r}\nother: {other!r}\n")
            raise
        runs += 1
        if time.monotonic() - begun > LIMIT:
            sys.stdout.write(f"input took {time.monotonic() - begun:.1f} s: {text!r}\n")
            return 1
    sys.stdout.write(f"{runs} inputs, {dict(done)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
