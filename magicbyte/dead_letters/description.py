"""One letter as JSON data: what its headers say, its bytes, and how far its key and value decode."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from magicbyte.kit.kafka.client_settings import may_be_topic
from serdes.letters.decode import LetterDecoder, Reached
from serdes.letters.fingerprint import fingerprint
from serdes.letters.headers import Header
from serdes.letters.letter import Letter, Replayed
from serdes.letters.parts import PARTS


def reached_parts(letter: Letter, decoder: LetterDecoder) -> dict[str, Reached]:
    """By part how far a letter's key and value decode; without a part that is null.

    Raises:
        SerdesError: the registry refuses or does not answer.
    """
    failure = letter.failure
    # A letter may claim any text as its topic.
    origin = failure.topic if failure is not None and may_be_topic(failure.topic) else letter.place[0]
    return {
        part: decoder.reached(part, data, origin, letter.original_headers, failure)
        for part in PARTS
        if (data := getattr(letter, part)) is not None
    }


def described(
    letter: Letter,
    state: Replayed | None,
    reached: Mapping[str, Reached],
    *,
    decoded: Callable[[str], Any] = json.loads,
) -> dict[str, Any]:
    """The letter as JSON data.

    Args:
        letter: The letter.
        state: Its state; None if it was not replayed.
        reached: By part how far it decodes.
        decoded: Makes the data of a decoded part from its JSON text.
    """
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
        "key": _part(letter.key, reached.get("key"), decoded),
        "value": _part(letter.value, reached.get("value"), decoded),
    }


def _header(header: Header) -> dict[str, str | None]:
    name, value = header
    try:
        return {"name": name, "value": None if value is None else value.decode()}
    except UnicodeDecodeError:
        return {"name": name, "base64": base64.b64encode(value or b"").decode()}


def _part(data: bytes | None, reached: Reached | None, decoded: Callable[[str], Any]) -> dict[str, Any] | None:
    if data is None or reached is None:
        return None
    stop = reached.stop
    return {
        "base64": base64.b64encode(data).decode(),
        "schemaId": reached.schema_id,
        "schemaType": None if reached.schema is None else reached.schema.schema.schema_type,
        "schema": None if reached.schema is None else reached.schema.schema.text,
        "decoded": None if reached.text is None else decoded(reached.text),
        "problem": reached.problem,
        "path": None if stop is None else stop.path,
        "byte": None if stop is None else stop.byte,
    }
