"""Whether a letter's key or value decodes, and how far: the field's path and the byte at which decoding stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF
from serdes.client.clients import RegistryClient
from serdes.client.models import SchemaInfo
from serdes.codec import DecodeError
from serdes.error import SchemaNotFound, SerdesError, SerializationError
from serdes.letters.headers import KEY_CONVERTER, VALUE_CONVERTER, DeadLetter
from serdes.letters.json_stop import json_stop
from serdes.letters.parts import AUTO, BYTES, PLAIN_JSON, SCHEMA
from serdes.letters.protobuf_stop import protobuf_stop
from serdes.message import wire
from serdes.message.protobuf_schema import parse
from serdes.text.field_reader import FieldReader, Headers
from serdes.text.json_position import offset_of
from serdes.text.undecodable import Undecodable
from serdes.validation.refusal import ValueRefused

_STAGE = {"key": KEY_CONVERTER, "value": VALUE_CONVERTER}


@dataclass(frozen=True, slots=True)
class Stop:
    """The place at which decoding stopped: the field's path such as `$.lines[3]`, and the byte of the key or value."""

    path: str | None
    byte: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """The result of decoding a key or value as far as possible.

    Attributes:
        schema_id: The id in its frame, or the guid; None without a frame.
        schema: The writer's schema; None if there is no frame, or the registry does not have it.
        text: The datum as JSON; None if it does not decode.
        problem: Why it does not decode.
        stop: Where decoding stopped.
    """

    schema_id: str | None = None
    schema: SchemaInfo | None = None
    text: str | None = None
    problem: str | None = None
    stop: Stop | None = None


@dataclass(slots=True)
class LetterDecoder:
    """Decodes letters as their consumers do, with the writers' schemas.

    Attributes:
        client: The registry's client.
        conf: The settings of the deserializers.
        formats: By part its format, one of FORMATS.
    """

    client: RegistryClient
    conf: Mapping[str, Any] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    _readers: dict[str, FieldReader] = field(default_factory=dict)
    #: By part and frame why the registry does not have a schema, which is asked for once.
    _absent: dict[tuple[str, bytes], str] = field(default_factory=dict)

    def problem(
        self, part: str, data: bytes | None, topic: str, headers: Headers, failure: DeadLetter | None
    ) -> str | None:
        """Return the reason why a key or value would fail again; None if it decodes, or is not decoded in its format.

        Args:
            part: `key` or `value`.
            data: Its bytes.
            topic: The topic that its consumers read.
            headers: The record's own headers.
            failure: Why it failed before.

        Raises:
            SerdesError: the registry refuses or does not answer.
        """
        chosen = self.formats.get(part, AUTO)
        if data is None or chosen == BYTES:
            return None
        if chosen == PLAIN_JSON:
            return _not_json(data)
        reader = self._reader(part)
        if not reader.is_framed(data, headers):
            needs_frame = chosen == SCHEMA or _failed_in_converter(part, failure)
            return f"the {part} does not begin with a schema id" if needs_frame else None
        frame = (part, wire.find_header(headers, wire.header_name(is_key=part == "key")) or data[: wire.V0_SIZE])
        if frame in self._absent:
            return self._absent[frame]
        try:
            reader.text(data, topic, headers)
        except Undecodable as error:
            problem = f"{part}: {error.reason}"
            if isinstance(error.__cause__, SchemaNotFound):
                self._absent[frame] = problem
            return problem
        return None

    def reached(
        self, part: str, data: bytes, topic: str, headers: Headers, failure: DeadLetter | None = None
    ) -> Reached:
        """Decode data as far as possible, by its frame; bytes without one are text, unless that is why they failed.

        Raises:
            SerdesError: the registry refuses or does not answer.
        """
        reader = self._reader(part)
        if not reader.is_framed(data, headers) and not _failed_in_converter(part, failure):
            return Reached(text=reader.text(data, topic, headers).decode())
        try:
            frame = wire.read_dual(data, headers, is_key=part == "key")
        except SerializationError as error:
            return Reached(problem=str(error), stop=Stop(None, 0))
        name = str(frame.guid if frame.schema_id is None else frame.schema_id)
        subject = f"{topic}-{part}"
        try:
            if frame.schema_id is None:
                info = self.client.schema_by_guid(name)
            else:
                info = self.client.schema_by_id(frame.schema_id, subject)
        except SchemaNotFound as error:
            return Reached(name, problem=error.message, stop=Stop(None, min(1, frame.offset)))
        try:
            text = reader.text(data, topic, headers)
        except Undecodable as error:
            try:
                stop = _STOPS[info.schema.schema_type](self.client, error, data, frame, info, subject)
            except SerdesError:
                # The schema does not compile, or what it refers to is gone: then no byte is at fault.
                stop = None
            return Reached(name, info, problem=error.reason, stop=stop)
        return Reached(name, info, text=text.decode())

    def _reader(self, part: str) -> FieldReader:
        if part not in self._readers:
            self._readers[part] = FieldReader(self.client, part, None, self.conf, text_without_frame=True)
        return self._readers[part]


def _failed_in_converter(part: str, failure: DeadLetter | None) -> bool:
    """Whether a record failed because its key or value could not be deserialized."""
    if failure is None:
        return False
    if failure.stage is not None:
        return failure.stage == _STAGE[part]
    # Streams and Spring name no stage, but their exceptions say it.
    exception = f"{failure.exception} {failure.message}"
    return part == "value" and ("Deserialization" in exception or "SerializationException" in exception)


def _not_json(data: bytes) -> str | None:
    stop = json_stop(data)
    return None if stop is None else f"it is not JSON at byte {stop[1]}: {stop[2]}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _avro_stop(
    client: RegistryClient, error: Exception, data: bytes, frame: wire.Frame, info: SchemaInfo, subject: str
) -> Stop | None:
    del client, data, frame, info, subject
    cause = next((cause for cause in _causes(error) if isinstance(cause, DecodeError)), None)
    return None if cause is None else Stop(cause.path, cause.position)


def _json_value_stop(
    client: RegistryClient, error: Exception, data: bytes, frame: wire.Frame, info: SchemaInfo, subject: str
) -> Stop | None:
    del client, info, subject
    text = data[frame.offset :]
    refused = next((cause for cause in _causes(error) if isinstance(cause, ValueRefused)), None)
    if refused is not None:
        decoded = text.decode(errors="replace")
        before = decoded[: offset_of(decoded, refused.path)]
        return Stop(refused.path, frame.offset + len(before.encode()))
    stop = json_stop(text)
    return None if stop is None else Stop(stop[0], frame.offset + stop[1])


def _protobuf_value_stop(
    client: RegistryClient, error: Exception, data: bytes, frame: wire.Frame, info: SchemaInfo, subject: str
) -> Stop | None:
    del error
    start = frame.offset
    try:
        in_header = wire.header_indexes(frame) if frame.offset == 0 else b""
        message = in_header + data
        indexes, position = wire.read_indexes(message, start)
        parsed = parse(info.schema, client.dependencies(info.schema, subject))
        descriptor = parsed.message_class(parsed.message_name(indexes)).DESCRIPTOR
    except (SerializationError, LookupError):
        return Stop("$", start)
    stop = protobuf_stop(message, position, descriptor)
    return None if stop is None else Stop(stop[0], stop[1] - len(in_header))


_STOPS: Mapping[str, Callable[..., Stop | None]] = {
    AVRO: _avro_stop,
    JSON: _json_value_stop,
    PROTOBUF: _protobuf_value_stop,
}
