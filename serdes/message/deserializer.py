"""Deserializing for all schema types: read the frame, look up the schema, decode."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self
from uuid import UUID

from compat.schema import Dependencies, SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient, RegistryClient
from serdes.client.flow import Flow, Later, called, finish, finished
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import ConfigError, WrongSchemaType
from serdes.message import wire
from serdes.message.config import CONFIG, DUAL, DeserializerConfig, checked_client, checked_function
from serdes.rules.seam import Ruled, after_decoding
from serdes.serialization import Context

FromDict = Callable[[Any, Any], Any]
#: Takes the message and the payload's offset in it; returns the datum or, for an asynchronous client, a Later.
Decode = Callable[[bytes, int], Any]
#: A schema and the schemas that it refers to.
Resolved = tuple[SchemaText, Dependencies]


@dataclass(frozen=True, slots=True)
class ReaderFormat:
    """The part of deserializing that depends on the schema type.

    Attributes:
        schema_type: The type's name on the wire.
        record_name: The name in a schema that the record subject strategies use, if there is one.
        decoder: Makes the decoder of a writer's schema and of the reader's; either may be None.
        errors: The exceptions that decoders raise.
        explain: Makes the exception for the caller from a decoder's exception and the message.
        indexed: True if message indexes precede the payload; if the frame is in a header, decoders get them
            as the first bytes of the message.
        zigzag: False if message indexes are plain varints.
        needs_writer: False if the payload can be read without the writer's schema.
        needs_references: False if it can be read without the schemas that the writer's schema refers to.
    """

    schema_type: str
    record_name: Callable[[SchemaText], str | None]
    decoder: Callable[[Resolved | None, Resolved | None], Decode]
    errors: tuple[type[Exception], ...]
    explain: Callable[[Exception, bytes], Exception]
    indexed: bool = False
    zigzag: bool = True
    needs_writer: bool = True
    needs_references: bool = True


class Deserializer:
    """Deserializes messages of any schema of one type; safe to share between threads.

    The first message of a schema asks the registry; later ones do not.
    """

    #: The class of clients that it accepts.
    client_type: type[BaseClient] = RegistryClient

    def __init__(
        self,
        client: BaseClient | None,
        form: ReaderFormat,
        config: DeserializerConfig,
        reader: SchemaText | None = None,
        from_dict: FromDict | None = None,
    ) -> None:
        if client is not None:
            checked_client(client, self.client_type)
        elif form.needs_writer or config.uses_latest:
            raise ConfigError("schema_registry_client", "needed to find the schemas that messages were written with")
        self.client = client
        self._form = form
        self._config = config
        self._reader = reader
        self._from_dict = checked_function("from_dict", from_dict)
        #: Decoders by topic, field and the first five bytes of the message.
        self._ready: dict[str, dict[str, dict[bytes, Decode]]] = {}
        #: The time on the monotonic clock when the first of these expires; None for never.
        self._stale_at: float | None = None
        #: Decoders by topic, field and frame, each with its time of expiry if the reader's schema may change.
        self._decoders: dict[tuple[str | None, str | None, object], tuple[Decode, float | None]] = {}

    def __call__(self, data: bytes | None, ctx: Any = None) -> Any:
        """The datum of a message; None, a tombstone, stays None.

        Args:
            data: The message's bytes.
            ctx: Topic, field and headers of the message; may be None if the subject's name needs no topic.

        Raises:
            WireError: the bytes do not begin with a frame.
            SchemaNotFound: the registry does not know the schema.
            PayloadError: the payload does not fit the schema.
            SerializationError: it cannot be deserialized for another reason; see `serdes.error`.
            RegistryError, RegistryUnavailable: the registry refuses or does not answer.
        """
        if data is None:
            return None
        if self._stale_at is not None and monotonic() >= self._stale_at:
            self._forget_stale()
        try:
            decode = self._ready[ctx.topic][ctx.field][data[:5]]
            framed_by_prefix = not ctx.headers or not self._in_header(ctx)
        except (KeyError, AttributeError, TypeError):
            framed_by_prefix = False
        if not framed_by_prefix:
            if not isinstance(data, bytes | bytearray | memoryview):
                raise TypeError(f"a message is bytes, not {type(data).__name__}")
            datum = self.datum(bytes(data), ctx)
            return self.client.drive(datum) if isinstance(self.client, RegistryClient) else finish(datum)
        try:
            datum = decode(data, 5)
        except self._form.errors as error:
            raise self._form.explain(error, data) from error
        return datum if self._from_dict is None else self._from_dict(datum, ctx)

    def _in_header(self, ctx: Context) -> bool:
        is_key = ctx.field == "key"
        return (
            self._config.source(is_key=is_key) == DUAL
            and wire.find_header(ctx.headers, wire.header_name(is_key=is_key)) is not None
        )

    def datum(self, data: bytes, ctx: Context | None) -> Flow[Any]:
        """The datum of a message, as `__call__` returns it; asks the registry for what is not cached."""
        is_key = ctx is not None and ctx.field == "key"
        source = self._config.source(is_key=is_key)
        if source == CONFIG:
            frame = self._frame_of_config()
        elif source == DUAL and ctx is not None:
            frame = wire.read_dual(data, ctx.headers, is_key=is_key)
        else:
            frame = wire.read_prefix(data)
        decode = yield from self.decoder(frame, ctx)
        if self._form.indexed and frame.offset == 0:
            data = wire.header_indexes(frame, zigzag=self._form.zigzag) + data
        try:
            datum = decode(data, frame.offset)
            if isinstance(datum, Later):
                datum = yield from called(datum.function)
        except self._form.errors as error:
            raise self._form.explain(error, data) from error
        return datum if self._from_dict is None else self._from_dict(datum, ctx)

    def _frame_of_config(self) -> wire.Frame:
        """The frame of a message without one: the configured schema and, for Protobuf, its file's first message."""
        guid = self._config.use_schema_guid
        rest = wire.write_indexes((0,)) if self._form.indexed else b""
        return wire.Frame(self._config.use_schema_id, None if guid is None else UUID(guid), 0, rest)

    def decoder(self, frame: wire.Frame, ctx: Context | None) -> Flow[Decode]:
        """The decoder of messages with this frame: cached, or chosen now as for a first message."""
        topic, field = (None, None) if ctx is None else (ctx.topic, ctx.field)
        key = (topic, field, frame.guid if frame.schema_id is None else frame.schema_id)
        cached = self._decoders.get(key)
        if cached is not None and (cached[1] is None or monotonic() < cached[1]):
            return cached[0]
        if cached is not None and self.client is not None:
            self.client.clear_latest_caches()
        if len(self._decoders) >= self._config.capacity:
            self._decoders.clear()
            self._ready.clear()
        if self.client is None or not (self._form.needs_writer or self._config.uses_latest):
            reader = None if self._reader is None else (self._reader, ())
            decode = yield from called(lambda: self._form.decoder(None, reader))
        else:
            decode = yield from self._resolve(self.client, frame, ctx)
        end = self._config.believed_until(self.client.latest_ttl if self.client else None)
        self._decoders[key] = (decode, end)
        if topic is not None and field is not None and frame.schema_id is not None and frame.offset:
            by_prefix = self._ready.setdefault(topic, {}).setdefault(field, {})
            by_prefix[wire.prefix(frame.schema_id)] = decode
            if end is not None:
                self._stale_at = end if self._stale_at is None else min(end, self._stale_at)
        return decode

    def _forget_stale(self) -> None:
        # In this order: a decoder that another thread adds meanwhile is dropped, or its expiry is kept.
        self._stale_at = None
        self._ready.clear()

    def _resolve(self, client: BaseClient, frame: wire.Frame, ctx: Context | None) -> Flow[Decode]:
        endpoints = client.endpoints
        # An id is looked up in the context of this subject: a strategy that needs the schema cannot run yet.
        id_subject = None if ctx is None else f"{self._config.naming.in_context(ctx)}{ctx.topic}-{ctx.field}"
        if frame.schema_id is not None:
            name = f"the schema of id {frame.schema_id}"
            info = yield from endpoints.schema_by_id(frame.schema_id, id_subject)
        else:
            name = f"the schema of guid {frame.guid}"
            info = yield from endpoints.schema_by_guid(str(frame.guid))
        if info.schema.schema_type != self._form.schema_type:
            raise WrongSchemaType(name, info.schema.schema_type, self._form.schema_type)
        ruled, latest = Ruled(name, info.schema, info.rule_set), None
        reader, subject = self._reader, id_subject
        if self._config.uses_latest:
            version = yield from self._latest(client, ctx, info)
            latest = Ruled(f"the latest version of subject {version.subject}", version.schema, version.rule_set)
            reader, subject = version.schema, version.subject
        needed = (yield from endpoints.dependencies(info.schema, id_subject)) if self._form.needs_references else ()
        resolved: Resolved | None = None
        if reader is not None:
            resolved = (reader, (yield from endpoints.dependencies(reader, subject)))
        decode = yield from called(lambda: self._form.decoder((info.schema, needed), resolved))
        return after_decoding(ruled, latest, decode)

    def _latest(self, client: BaseClient, ctx: Context | None, info: SchemaInfo) -> Flow[RegisteredSchema]:
        endpoints, config = client.endpoints, self._config
        subject = yield from config.naming.subject(endpoints, ctx, self._form.record_name(info.schema))
        if config.use_latest_with_metadata is not None:
            return (yield from endpoints.latest_with_metadata(subject, config.use_latest_with_metadata))
        return (yield from endpoints.version(subject))


class AsyncDeserializer:
    """A deserializer for an AsyncRegistryClient: it takes the same arguments, and its calls are awaited.

    It may also be made with `await`, as confluent-kafka's is.
    """

    #: The deserializer that does the work.
    twin: type[Deserializer]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._deserializer = self.twin(*args, **kwargs)

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self

    async def __call__(self, data: bytes | None, ctx: Any = None) -> Any:
        """The datum of a message; see Deserializer."""
        if data is None:
            return None
        client, datum = self._deserializer.client, self._deserializer.datum(bytes(data), ctx)
        return await (client.drive(datum) if isinstance(client, AsyncRegistryClient) else finished(datum))
