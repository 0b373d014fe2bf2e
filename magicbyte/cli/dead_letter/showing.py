"""`magicbyte dead-letter show`: one letter with its headers and bytes, and how far its key and value decode."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator

from magicbyte.cli.dead_letter.options import letters_topic
from magicbyte.cli.records.consume import gather_properties
from magicbyte.dead_letters.description import described, reached_parts
from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.topic_ids.timed_position import utc
from serdes.console.client import open_client
from serdes.console.outcome import BAD_USAGE, OK, Ended
from serdes.letters.decode import LetterDecoder, Reached
from serdes.letters.fingerprint import fingerprint
from serdes.letters.headers import DeadLetter
from serdes.letters.letter import Letter, Replayed
from serdes.letters.parts import PARTS

#: How many bytes are shown, in all and on each line.
_SHOWN_BYTES = 256
_LINE = 16
#: How many bytes are shown before the one at which decoding stopped.
_BEFORE = 64


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the letter to stdout."""
    place = re.fullmatch(r"(\d+):(\d+)", options.at)
    if place is None:
        parser.error(f"--at must be PARTITION:OFFSET, not {options.at!r}")
    topic = letters_topic(options)
    try:
        letter = _letter(topic, int(place[1]), int(place[2]))
        state = topic.states().get(letter.identity)
    finally:
        topic.close()
    gathered = gather_properties(options)
    reached = reached_parts(letter, LetterDecoder(open_client(gathered.client, topic.clients.consumer), gathered.serde))
    if options.output == "json":
        sys.stdout.write(json.dumps(described(letter, state, reached), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(letter, state, reached)))
    return OK


def _letter(topic: LettersTopic, partition: int, offset: int) -> Letter:
    bounds = topic.windows().get(partition)
    if bounds is None:
        raise Ended(BAD_USAGE, f"topic {topic.name} has no partition {partition}")
    if not bounds[0] <= offset < bounds[1]:
        raise Ended(BAD_USAGE, f"{topic.name} has offsets {bounds[0]} to {bounds[1] - 1} in partition {partition}")
    letter = next(topic.letters({partition: (offset, offset + 1)}), None)
    if letter is None:
        raise Ended(BAD_USAGE, f"{topic.name} has no record at {partition}:{offset}; it was compacted or is a marker")
    return letter


def _lines(letter: Letter, state: Replayed | None, reached: dict[str, Reached]) -> Iterator[str]:
    topic, partition, offset = letter.place
    yield f"{topic} {partition}:{offset} {'' if letter.time is None else utc(letter.time)}".rstrip()
    failure = letter.failure
    if failure is None:
        yield "  no headers of a dead letter"
    else:
        yield f"  {'fingerprint':12}{fingerprint(failure)}"
        yield from (f"  {name:12}{text}" for name, text in _failure_lines(failure))
    yield f"  {'replayed':12}{_replayed(letter, state)}"
    for name, value in letter.original_headers:
        yield f"  header      {name}: {_printable(value)}"
    for part in PARTS:
        data: bytes | None = getattr(letter, part)
        if data is None:
            yield f"{part}: none"
            continue
        part_reached = reached[part]
        yield f"{part}: {len(data):,} bytes"
        stop = part_reached.stop.byte if part_reached.stop is not None else None
        yield from _dump(data, stop)
        yield from _decoding(part_reached)


def _failure_lines(failure: DeadLetter) -> Iterator[tuple[str, str]]:
    at = "" if failure.timestamp is None else f" of {utc(failure.timestamp)}"
    yield "origin", f"{failure.topic} {failure.partition}:{failure.offset}{at}"
    names = {"connector": "pipeline", "message": "reason", "schema_id": "schema id"}
    for name in ("connector", "stage", "exception", "message", "quality", "schema_id", "subject", "attempt", "batch"):
        value = getattr(failure, name)
        if value is not None:
            yield names.get(name, name), str(value)


def _replayed(letter: Letter, state: Replayed | None) -> str:
    texts = [f"{letter.replays} times before it failed again"] if letter.replays else []
    if state is not None:
        texts.append(f"{state.count} times since, the last to {state.topic} at {utc(state.time)}")
    return "; ".join(texts) or "never"


def _printable(value: bytes | None) -> str:
    if value is None:
        return "null"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return value.hex(" ")
    return text if text.isprintable() else value.hex(" ")


def _dump(data: bytes, stop: int | None) -> Iterator[str]:
    """The first bytes, or those around the one at which decoding stopped, in hexadecimal and as text."""
    first = 0 if stop is None or stop < _SHOWN_BYTES - _LINE else (stop - _BEFORE) // _LINE * _LINE
    for start in range(first, min(len(data), first + _SHOWN_BYTES), _LINE):
        line = data[start : start + _LINE]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in line)
        mark = "  <" if stop is not None and start <= stop < start + _LINE else ""
        yield f"  {start:08x}  {line.hex(' '):{_LINE * 3 - 1}}  {text}{mark}"
    left = len(data) - first - _SHOWN_BYTES
    if left > 0:
        yield f"  and {left:,} more bytes"


def _decoding(reached: Reached) -> Iterator[str]:
    if reached.schema is not None:
        schema = reached.schema
        version = f", {schema.subject} version {schema.version}" if schema.subject and schema.version else ""
        yield f"  {'schema':12}{reached.schema_id}, {schema.schema.schema_type}{version}"
        yield from (f"    {line}" for line in schema.schema.text.splitlines())
    if reached.problem is None:
        yield f"  {'decoded':12}{reached.text}"
        return
    yield f"  {'problem':12}{reached.problem}"
    if reached.stop is not None:
        byte = "" if reached.stop.byte is None else f"byte {reached.stop.byte}"
        yield f"  {'stopped at':12}{' '.join(filter(None, (reached.stop.path, byte)))}"
