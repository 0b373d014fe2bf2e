"""Producers' schemas looked up at the origin and in our registry: a miss makes a producer register a new version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from msgspec.structs import replace

from compat.schema import AVRO, JSON, PROTOBUF, Reference
from magicbyte.kit.errors import ApiError
from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.migration.finding import Finding
from magicbyte.operations.registry_end import RegistryEnd
from registry.decide import Sent, Terms, Unanswered, look_up
from registry.state.model import Content
from registry.state.view import View
from serdes.error import RegistryError

#: The end of a file's name -> the type of its schema.
_TYPES = {".avsc": AVRO, ".json": JSON, ".proto": PROTOBUF}
_LINES = {".jsonl", ".ndjson"}
#: A decision answers itself whatever it asks: nobody waits for it here.
_NO_LIMIT = 10**9
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Producer:
    """A schema as a producer sends it.

    Attributes:
        place: The file, and the line in it.
        subject: The subject.
        content: The schema.
    """

    place: str
    subject: str
    content: Content


def read_producers(files: Sequence[Path]) -> list[Producer]:
    """The schemas in files: SUBJECT.avsc, SUBJECT.json or SUBJECT.proto, folders of them, or lines of requests.

    A line of a .jsonl file is the body of a request with its `subject`.

    Raises:
        Failure: A file cannot be read, or is of another kind.
    """
    producers: list[Producer] = []
    for file in files:
        listed = sorted(path for path in file.iterdir() if path.suffix in _TYPES) if file.is_dir() else [file]
        if not listed:
            raise Failure(f"{file} has no schema: name files SUBJECT.avsc, SUBJECT.json or SUBJECT.proto")
        for path in listed:
            try:
                text = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Failure(f"{path} cannot be read: {error}") from None
            if path.suffix in _LINES:
                producers += _lines(path, text)
            elif path.suffix in _TYPES:
                producers.append(Producer(str(path), path.stem, Content(_TYPES[path.suffix], text)))
            else:
                raise Failure(f"{path} is no schema file: name it SUBJECT.avsc, SUBJECT.json, SUBJECT.proto, or .jsonl")
    return producers


def _lines(path: Path, text: str) -> Iterator[Producer]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            value = orjson.loads(line)
            subject, schema = value["subject"], value["schema"]
            references = tuple(
                Reference(one["name"], one["subject"], one["version"]) for one in value.get("references") or ()
            )
            content = Content(str(value.get("schemaType") or AVRO), schema, references)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Failure(f'{place} is no request: write {{"subject": .., "schema": .., "schemaType": ..}}') from None
        if not isinstance(subject, str) or not isinstance(schema, str):
            raise Failure(f"{place}: subject and schema have to be texts")
        yield Producer(place, subject, content)


def check_lookups(
    producers: Sequence[Producer], view: View, default_level: str, end: RegistryEnd | None
) -> Iterator[Finding]:
    """Look each schema up at both.

    Args:
        producers: The schemas.
        view: The state of the origin.
        default_level: The level of subjects without one.
        end: The origin; None if it is a log, and only our registry is asked.
    """
    for producer in producers:
        about = f"{producer.place} (subject {producer.subject})"
        try:
            ours = _ours(view, producer, default_level, normalize=False)
        except ApiError as error:
            yield Finding("LOOKUP_MISSED", f"{about} is refused by our registry: {error}", subject=producer.subject)
            continue
        theirs = ours if end is None else _theirs(end, producer)
        if theirs is not None and ours is None:
            yield _missed(view, producer, default_level, about, theirs)
        elif theirs is not None and ours != theirs:
            sentence = f"{about} has id {theirs} at the origin, and would have id {ours} in our registry"
            yield Finding("LOOKUP_MISSED", sentence, subject=producer.subject)
        elif ours is None:
            where = "the log" if end is None else "either registry"
            yield Finding("PRODUCER_UNREGISTERED", f"{about} is not in {where}", subject=producer.subject)


def _missed(view: View, producer: Producer, default_level: str, about: str, theirs: int) -> Finding:
    sentence = f"{about} has id {theirs} at the origin; our registry does not find the text"
    try:
        normalized = _ours(view, producer, default_level, normalize=True)
    except ApiError:
        normalized = None
    if normalized == theirs:
        remedy = (
            "let the producer look it up with normalize=true (`normalize.schemas`), or set `normalize` in the config "
            f"of {producer.subject}: then it is found"
        )
        return Finding("LOOKUP_MISSED", sentence, remedy, producer.subject)
    return Finding("LOOKUP_MISSED", f"{sentence}, nor with normalize=true", subject=producer.subject)


def _ours(view: View, producer: Producer, default_level: str, *, normalize: bool) -> int | None:
    """The id that our registry finds; None for a miss."""
    sent = Sent(producer.subject, producer.content)
    if normalize:
        sent = replace(sent, normalize=True)
    terms = Terms(default_level=default_level, most_reading=_NO_LIMIT)
    try:
        version = look_up(view, sent, terms, include_deleted=False)
    except Unanswered:
        raise Failure(f"{producer.place} is too large to be looked up here") from None
    return None if version is None else version.schema_id


def _theirs(end: RegistryEnd, producer: Producer) -> int | None:
    content = producer.content
    body: dict[str, Any] = {"schema": content.text, "schemaType": content.schema_type}
    if content.references:
        body["references"] = [
            {"name": one.name, "subject": one.subject, "version": one.version} for one in content.references
        ]
    try:
        answer = end.call("POST", f"/subjects/{quote(producer.subject, safe='')}", None, body)
    except RegistryError as error:
        if error.status >= 500 or error.status == _TOO_MANY:
            raise Unreachable(f"{end.name} does not look {producer.place} up: {error.message}") from None
        return None
    schema_id = answer.get("id") if isinstance(answer, dict) else None
    return schema_id if type(schema_id) is int else None
