"""Decodes batches of messages in Spark's Python workers to columns for Arrow.

Codecs are compiled once per process. Workers ask the registry only if the query allows it, and only for ids that were
unknown when the query was planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson

from compat.schema import AVRO, JSON, PROTOBUF, InvalidSchema
from serdes.client.clients import RegistryClient
from serdes.client.config import client_options
from serdes.error import SerdesError
from serdes.message import wire
from serdes.rules.context import Ruled
from spark_avro.plan.rules.refusing import ANY, Seam
from spark_avro.sent_schema import SentSchema

if TYPE_CHECKING:
    import pyarrow as pa

    from serdes.codec.resolve.plan import Plan
    from spark_avro.columns import Outcome, Read

Decode = Callable[[bytes], Any]


#: The settings of the registry's client as pairs; secrets are placeholders.
WorkerSettings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Decoder:
    """Decodes messages by the schema id before each payload.

    Attributes:
        schema_type: AVRO, JSON or PROTOBUF.
        schemas: The schemas by id.
        make: Returns the function that decodes messages of a schema to values.
        errors: The errors that this function raises for a broken payload.
        origin: The source of the schemas, for errors.
        seam: What decides whether records of a schema may be read.
        asked: The settings of the registry's client for looking up other ids; None if other ids are errors.
        make_columns: Returns the function that reads payloads of a schema in columns of a type, or None.
    """

    schema_type: str
    schemas: Mapping[int, SentSchema]
    make: Callable[[SentSchema], Decode]
    errors: tuple[type[Exception], ...]
    origin: str
    seam: Seam = ANY
    asked: WorkerSettings | None = None
    make_columns: Callable[[SentSchema, pa.DataType], Read | None] | None = None
    _ready: dict[int, Decode] = field(default_factory=dict, compare=False)
    _columns: dict[int, Read | None] = field(default_factory=dict, compare=False)
    _ids: dict[str, int] = field(default_factory=dict, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state to send to a worker, without compiled functions."""
        return {**self.__dict__, "_ready": {}, "_columns": {}, "_ids": {}}

    def __call__(self, messages: pa.Array, kind: pa.DataType) -> tuple[pa.Array, pa.Array]:
        """The values of binary messages as an array of the type, and the error of each."""
        from spark_avro.columns import decode_batch  # noqa: PLC0415 - the driver has no use for it

        return decode_batch(messages, kind, self.decode, lambda schema_id: self._in_columns(schema_id, kind))

    def _in_columns(self, schema_id: int, kind: pa.DataType) -> Read | None:
        """The reader of payloads in columns for an id, if there is one; errors with an id are reported by `decode`."""
        if self.make_columns is None:
            return None
        if schema_id not in self._columns:
            try:
                schema = self._schema(schema_id)
                is_refused = self.seam.refusal(schema.ruled) is not None
                self._columns[schema_id] = None if is_refused else self.make_columns(schema, kind)
            except LookupError:
                # The registry may have the schema later, so do not remember the failure.
                return None
            except self.errors:
                self._columns[schema_id] = None
        return self._columns[schema_id]

    def decode(self, message: bytes | None) -> Outcome:
        """The value of a single message, and the reason if it is broken."""
        if message is None:
            return None, None
        if message[:1] == b"\x01" and len(message) >= wire.V1_SIZE:
            try:
                message = self._by_id(message)
            except LookupError as error:
                return None, str(error.args[0])
        if message[:1] != b"\x00" or len(message) < wire.V0_SIZE:
            return None, _no_header(message)
        schema_id = int.from_bytes(message[1 : wire.V0_SIZE], "big")
        decode = self._ready.get(schema_id)
        try:
            if decode is None:
                decode = self._ready[schema_id] = self._decoder(schema_id)
            return decode(message), None
        except LookupError as error:
            return None, str(error.args[0]) if error.args else repr(error)
        except self.errors as error:
            shown = f"{schema_id} (0x{schema_id:08X})"
            size = len(message) - wire.V0_SIZE
            return None, f"malformed payload: the {size} bytes after the header are no value of id {shown}: {error}"

    def _by_id(self, message: bytes) -> bytes:
        """The message of a guid that was unknown when the query was planned, with the schema's id instead."""
        guid = str(UUID(bytes=bytes(message[1 : wire.V1_SIZE])))
        if guid not in self._ids:
            self._ids[guid] = self._ask_id(guid)
        return wire.prefix(self._ids[guid]) + message[wire.V1_SIZE :]

    def _ask_id(self, guid: str) -> int:
        from spark_avro.registry import id_of_guid  # noqa: PLC0415 - only if workers ask

        shown = f"unknown schema guid: {guid}"
        if self.asked is None:
            raise LookupError(f"{shown} is not among those of {self.origin} when the query was planned")
        try:
            schema_id = id_of_guid(_client(self.asked), guid, None)
        except SerdesError as error:
            raise LookupError(f"{shown}: {error}") from error
        if schema_id is None:
            raise LookupError(f"{shown}: the registry has no schema of it")
        return schema_id

    def _decoder(self, schema_id: int) -> Decode:
        schema = self._schema(schema_id)
        problem = self.seam.refusal(schema.ruled)
        if problem is not None:
            return _refusing(f"unreadable schema: id {schema_id} (0x{schema_id:08X}): {problem}")
        return self.make(schema)

    def _schema(self, schema_id: int) -> SentSchema:
        return self.schemas.get(schema_id) or self._ask(schema_id)

    def _ask(self, schema_id: int) -> SentSchema:
        shown = f"unknown schema id: {schema_id} (0x{schema_id:08X})"
        if self.asked is None:
            raise LookupError(f"{shown} is not among those of {self.origin} when the query was planned")
        try:
            schema = _ask_registry(self.asked, schema_id)
        except SerdesError as error:
            raise LookupError(f"{shown}: {error}") from error
        if schema.schema.schema_type != self.schema_type:
            raise LookupError(f"{shown} is of type {schema.schema.schema_type}, not {self.schema_type}")
        return schema


def _refusing(problem: str) -> Decode:
    def refuse(_: bytes) -> Any:
        raise LookupError(problem)

    return refuse


def _no_header(message: bytes) -> str:
    if message[:1] == b"\x01":
        size = wire.V1_SIZE
        return f"payload too short: {len(message)} bytes, magic byte and schema guid alone have {size}"
    if message and message[0]:
        return f"wrong magic byte: 0x{message[0]:02X} where a schema id's message has 0x00"
    return f"payload too short: {len(message)} bytes, the header alone has {wire.V0_SIZE}"


@lru_cache(maxsize=8)
def _client(settings: WorkerSettings) -> RegistryClient:
    return RegistryClient(**client_options(dict(settings)))


def _ask_registry(asked: WorkerSettings, schema_id: int) -> SentSchema:
    client = _client(asked)
    info = client.schema_by_id(schema_id)
    return SentSchema(Ruled(f"schema id {schema_id}", info.schema, info.rule_set), client.dependencies(info.schema))


@dataclass(frozen=True)
class AvroMaker:
    """Returns decoders from Avro to Spark's values.

    Attributes:
        reader: The reader's schema, without references.
    """

    reader: str

    def __call__(self, writer: SentSchema) -> Decode:
        """The decoder for a writer's schema."""
        from spark_avro.plan.spark_form import decoder_of  # noqa: PLC0415 - the driver has no use for it

        skip, plan = wire.V0_SIZE, self._plan(writer)
        if _is_raw(plan):
            return lambda message: bytes(message[skip:])
        decode = decoder_of(plan)
        return lambda message: decode(message, skip)

    def columns(self, writer: SentSchema, kind: pa.DataType) -> Read | None:
        """The reader in columns for a writer's schema, if its payloads can be read in columns."""
        from spark_avro.columns import column_reader  # noqa: PLC0415 - the driver has no use for it

        plan = self._plan(writer)
        return None if _is_raw(plan) else column_reader(plan, kind)

    def _plan(self, writer: SentSchema) -> Plan:
        from spark_avro.plan.spark_form import plan_of  # noqa: PLC0415 - the driver has no use for it

        return plan_of(writer.schema.text, tuple(dependency.text for dependency in writer.dependencies), self.reader)


def _is_raw(plan: Plan) -> bool:
    """Whether the payload is the value itself: top-level `bytes` have no length in the Confluent format."""
    return all(node.kind == "bytes" and node.logical is None for node in (plan.node, plan.target))


@dataclass(frozen=True)
class AvroJsonMaker:
    """Returns decoders from Avro to the text of Avro JSON.

    Attributes:
        reader: The reader's schema, without references; None for each message's own schema.
    """

    reader: str | None

    def __call__(self, writer: SentSchema) -> Decode:
        """The decoder for a writer's schema."""
        from serdes.codec import compile_codec  # noqa: PLC0415 - the driver has no use for it
        from serdes.codec.readable import readable_decoder  # noqa: PLC0415

        named = [dependency.text for dependency in writer.dependencies]
        codec = compile_codec(writer.schema.text, self.reader, named, reader_named=())
        show = codec.payload_to_json_bytes if codec.is_raw else readable_decoder(codec, plain_unions=False)
        return lambda message: show(message, wire.V0_SIZE).decode()


def avro_decoder(
    schemas: Mapping[int, SentSchema], reader: str, origin: str, seam: Seam = ANY, asked: WorkerSettings | None = None
) -> Decoder:
    """A decoder of Avro messages to Spark's values; `seam` and `asked` are the Decoder's."""
    maker = AvroMaker(reader)
    return Decoder(AVRO, schemas, maker, _avro_errors(), origin, seam, asked, maker.columns)


def avro_json_decoder(
    schemas: Mapping[int, SentSchema], reader: str | None, origin: str, seam: Seam, asked: WorkerSettings | None
) -> Decoder:
    """A decoder of Avro messages to the texts of their Avro JSON."""
    return Decoder(AVRO, schemas, AvroJsonMaker(reader), _avro_errors(), origin, seam, asked)


def _avro_errors() -> tuple[type[Exception], ...]:
    from serdes.codec import DecodeError, SchemaError  # noqa: PLC0415

    return DecodeError, SchemaError, ValueError, OverflowError


@dataclass(frozen=True)
class JsonMaker:
    """Returns JSON Schema decoders, which return the payload's text if the schema accepts it."""

    def __call__(self, writer: SentSchema) -> Decode:
        """The decoder for a schema."""
        from serdes.validation.validator import JsonValidator  # noqa: PLC0415 - the driver has no use for it

        validator = JsonValidator(writer.schema.text, writer.dependencies)

        def decode(message: bytes) -> str:
            payload = message[wire.V0_SIZE :]
            validator.check(orjson.loads(payload), payload)
            return payload.decode()

        return decode

    def columns(self, writer: SentSchema, kind: pa.DataType) -> Read | None:
        """The reader in columns, which leaves refused and long messages to `decode`."""
        from serdes.validation.validator import JsonValidator  # noqa: PLC0415 - the driver has no use for it
        from spark_avro.columns.json_texts import valid_texts  # noqa: PLC0415

        validator = JsonValidator(writer.schema.text, writer.dependencies)
        return valid_texts(validator.accepts, validator.longest, kind) if validator.longest >= 0 else None


def json_decoder(schemas: Mapping[int, SentSchema], origin: str, seam: Seam, asked: WorkerSettings | None) -> Decoder:
    """A decoder of JSON Schema messages with validation."""
    # ValidationUnavailable is not among them: the message may be valid, so the task fails.
    errors = (ValueError, RecursionError)
    maker = JsonMaker()
    return Decoder(JSON, schemas, maker, errors, origin, seam, asked, maker.columns)


@dataclass(frozen=True)
class ProtobufMaker:
    """Returns Protobuf decoders, which convert messages to dicts of the fields of the reader's message.

    A record's indexes name its message in the writer's schema; a record of another message is broken.

    Attributes:
        reader: The reader's schema; its fields are read from the writer's fields with the same numbers.
        message: The full name of the reader's message.
    """

    reader: SentSchema
    message: str

    def __call__(self, writer: SentSchema) -> Decode:
        """The decoder for a writer's schema."""
        from spark_avro.plan.protobuf_types import message_class, parsed, to_spark  # noqa: PLC0415

        try:
            written = parsed(writer)
        except InvalidSchema as error:
            return _refusing(f"unreadable schema: {writer.ruled.name}: {error.detail}")
        reader_class = message_class(self.reader, self.message)
        change = to_spark(reader_class.DESCRIPTOR)

        def decode(message: bytes) -> Any:
            indexes, start = wire.read_indexes(message, wire.V0_SIZE)
            try:
                name = written.message_name(indexes)
            except IndexError as error:
                raise ValueError(str(error)) from None
            if name != self.message:
                raise LookupError(
                    f"another message: the record at message indexes {list(indexes)} is a {name}, and the column has"
                    f" {self.message}; set `message` to the one to read"
                )
            return change(reader_class.FromString(bytes(message[start:])))

        return decode

    def columns(self, writer: SentSchema, kind: pa.DataType) -> Read | None:
        """The reader in columns, if payloads can be read in columns."""
        from spark_avro.columns.protobuf import behind_indexes, message_reader  # noqa: PLC0415
        from spark_avro.plan.protobuf_types import message_class, parsed  # noqa: PLC0415

        try:
            path = parsed(writer).message_indexes(self.message)
        except KeyError:
            return None
        read = message_reader(message_class(self.reader, self.message).DESCRIPTOR, kind)
        return None if read is None else behind_indexes(read, path)


def protobuf_decoder(
    schemas: Mapping[int, SentSchema],
    reader: SentSchema,
    message: str,
    origin: str,
    seam: Seam,
    asked: WorkerSettings | None,
) -> Decoder:
    """A decoder of Protobuf messages."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    # ValueError for a timestamp outside of the years 1 to 9999, and for a proto2 string that is not UTF-8.
    errors = (DecodeError, SerdesError, ValueError)
    maker = ProtobufMaker(reader, message)
    return Decoder(PROTOBUF, schemas, maker, errors, origin, seam, asked, maker.columns)
