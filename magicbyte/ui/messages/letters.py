"""Dead letters, read and described: the worker's part of the views of dead letters."""

from __future__ import annotations

import base64
from hashlib import blake2b
from typing import Any

import msgspec
import orjson

from magicbyte.dead_letters.conditions import condition
from magicbyte.dead_letters.description import described, reached_parts
from magicbyte.dead_letters.groups import GROUPINGS
from magicbyte.ui.messages.letter_request import (
    LONGEST_GROUP,
    LetterKind,
    ShowRequest,
    SortedLetter,
    SortedLetters,
    SortRequest,
)
from magicbyte.ui.messages.lookup import Lookup
from magicbyte.ui.messages.request import BadRequest, DecodeRequest
from magicbyte.ui.messages.scan_request import ScannedRecord
from serdes.client.clients import RegistryClient
from serdes.console.outcome import Ended
from serdes.letters.decode import LetterDecoder, Reached
from serdes.letters.fingerprint import fingerprint, reason_of
from serdes.letters.letter import Letter, state_key

#: How many bytes of a key or value are returned, and how many of them are before the place at fault.
_SHOWN_BYTES, _BEFORE, _LINE = 512, 128, 16
#: The longest JSON of a decoded value, and the longest header.
_SHOWN_TEXT, _SHOWN_HEADER = 16_384, 4_096
_MOST_HEADERS = 200
#: The longest text of a header in a list of letters: thousands of them are in memory.
_LISTED_TEXT = 300


def key_number(key: bytes) -> int:
    """A number for the key of a note, or for the identity of a letter by `state_key`: sets of it take little memory."""
    return int.from_bytes(blake2b(key, digest_size=8).digest())


def sorted_letters(_client: RegistryClient, request: SortRequest, _most_bytes: int) -> bytes:
    """The letters that are meant among some records, as JSON.

    Raises:
        BadRequest: The condition is none.
    """
    name_of = GROUPINGS[request.by]
    kinds: dict[LetterKind, int] = {}
    letters = []
    try:
        fits = condition(request.where)
        for record in request.records:
            letter = _letter(request.topic or "", record)
            group = name_of(letter)[:LONGEST_GROUP]
            if (request.group is None or group == request.group) and fits(letter):
                letters.append(_sorted(letter, group, kinds))
    except Ended as error:
        raise BadRequest(str(error).removeprefix("--")) from None
    return msgspec.json.encode(SortedLetters(list(kinds), letters))


def shown_letter(client: RegistryClient, request: ShowRequest, _most_bytes: int) -> bytes:
    """One letter, as JSON: as `magicbyte dead-letter show` has it, with long parts cut.

    Raises:
        SerdesError: The registry refuses or does not answer.
    """
    letter = _letter(request.topic or "", request.records[0])
    reached = reached_parts(letter, LetterDecoder(client))
    shown = described(letter, None, reached, decoded=orjson.Fragment)
    origin = letter.place[0] if letter.failure is None else letter.failure.topic
    for part, part_reached in reached.items():
        wanted = DecodeRequest(topic=origin, is_key=part == "key", context=request.context)
        shown[part] |= _holder(client, wanted, part_reached)
        shown[part] |= _bytes_around(getattr(letter, part), part_reached, whole=request.whole)
        text = part_reached.text
        if text is not None and len(text) > _SHOWN_TEXT and not request.whole:
            shown[part] |= {"decoded": None, "preview": text[:_SHOWN_TEXT], "size": len(text.encode())}
    if not request.whole:
        shown["headers"] = [
            {name: value if value is None else value[:_SHOWN_HEADER] for name, value in header.items()}
            for header in shown["headers"][:_MOST_HEADERS]
        ]
    return orjson.dumps({**shown, "identity": str(key_number(state_key(letter.identity)))})


def _letter(topic: str, record: ScannedRecord) -> Letter:
    headers = [(name, _bytes(value)) for name, value in record.headers]
    place = (topic, record.partition, record.offset)
    return Letter(place, record.timestamp, _bytes(record.key), _bytes(record.value), headers)


def _bytes(packed: str | None) -> bytes | None:
    return None if packed is None else base64.b64decode(packed)


def _sorted(letter: Letter, group: str, kinds: dict[LetterKind, int]) -> SortedLetter:
    failure = letter.failure
    stage = "" if failure is None else failure.stage or ""
    kind = LetterKind(fingerprint(failure), stage[:_LISTED_TEXT], reason_of(failure)[:_LISTED_TEXT])
    origin, pipeline = letter.origin, None if failure is None else failure.connector
    key = state_key(letter.identity)
    schema = letter.schema_guid if letter.schema_id is None else str(letter.schema_id)
    return SortedLetter(
        letter.place[1],
        letter.place[2],
        letter.time,
        kinds.setdefault(kind, len(kinds)),
        group,
        key_number(key),
        key_number(key + b"\0" + repr(pipeline).encode()),
        None if origin is None else (origin[0][:_LISTED_TEXT], *origin[1:]),
        None if pipeline is None else pipeline[:_LISTED_TEXT],
        schema,
        failure is not None and failure.masked,
        letter.replays,
    )


def _holder(client: RegistryClient, wanted: DecodeRequest, reached: Reached) -> dict[str, Any]:
    """The subject and version that hold the writer's schema."""
    if reached.schema is None or reached.schema_id is None or not reached.schema_id.isdigit():
        return {"subject": None, "version": None}
    holder = Lookup(client, wanted).holder(int(reached.schema_id))
    return {"subject": holder.subject, "version": holder.version}


def _bytes_around(data: bytes, reached: Reached, *, whole: bool) -> dict[str, Any]:
    """The bytes to show: the first ones, or those around the place where decoding stopped."""
    stop = None if reached.stop is None else reached.stop.byte
    first = 0 if whole or stop is None or stop < _SHOWN_BYTES - _LINE else (stop - _BEFORE) // _LINE * _LINE
    end = len(data) if whole else first + _SHOWN_BYTES
    return {"base64": base64.b64encode(data[first:end]).decode(), "first": first, "bytes": len(data)}
