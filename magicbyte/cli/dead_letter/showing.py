"""`magicbyte dead-letter show`: one letter with its headers and bytes, and how far its key and value decode."""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from magicbyte.cli.dead_letter.letters_topic import LettersTopic
from magicbyte.cli.records.consume import gather_properties
from magicbyte.topic_ids.tally import utc
from serdes.console.client import open_client
from serdes.console.outcome import BAD_USAGE, OK, Ended
from serdes.letters.decode import PARTS, LetterDecoder, Reached
from serdes.letters.fingerprint import fingerprint
from serdes.letters.headers import DeadLetter, Header
from serdes.letters.letter import Letter, Replayed

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
    topic = LettersTopic(options)
    try:
        letter = _letter(topic, int(place[1]), int(place[2]))
        state = topic.states().get(letter.identity)
    finally:
        topic.close()
    gathered = gather_properties(options)
    decoder = LetterDecoder(open_client(gathered.client, topic.config), gathered.serde)
    origin = topic.name if letter.failure is None else letter.failure.topic
    reached = {
        part: decoder.reached(part, data, origin, letter.original_headers, letter.failure)
        for part in PARTS
        if (data := getattr(letter, part)) is not None
    }
    if options.output == "json":
        sys.stdout.write(json.dumps(_json(letter, state, reached), indent=2, ensure_ascii=False) + "\n")
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
        yield from (f"  {name:12}{text}" for name, text in _said(failure))
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


def _said(failure: DeadLetter) -> Iterator[tuple[str, str]]:
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


def _json(letter: Letter, state: Replayed | None, reached: dict[str, Reached]) -> dict[str, Any]:
    failure = letter.failure
    said = None if failure is None else {field.name: getattr(failure, field.name) for field in fields(failure)}
    return {
        "topic": letter.place[0],
        "partition": letter.place[1],
        "offset": letter.place[2],
        "timestamp": letter.time,
        "fingerprint": fingerprint(failure),
        "failure": said,
        "replays": letter.replays + (0 if state is None else state.count),
        "headers": [_header(header) for header in letter.original_headers],
        "key": _part(letter.key, reached.get("key")),
        "value": _part(letter.value, reached.get("value")),
    }


def _header(header: Header) -> dict[str, str | None]:
    name, value = header
    try:
        return {"name": name, "value": None if value is None else value.decode()}
    except UnicodeDecodeError:
        return {"name": name, "base64": base64.b64encode(value or b"").decode()}


def _part(data: bytes | None, reached: Reached | None) -> dict[str, Any] | None:
    if data is None or reached is None:
        return None
    stop = reached.stop
    return {
        "base64": base64.b64encode(data).decode(),
        "schemaId": reached.schema_id,
        "schemaType": None if reached.schema is None else reached.schema.schema.schema_type,
        "schema": None if reached.schema is None else reached.schema.schema.text,
        "decoded": None if reached.text is None else json.loads(reached.text),
        "problem": reached.problem,
        "path": None if stop is None else stop.path,
        "byte": None if stop is None else stop.byte,
    }
