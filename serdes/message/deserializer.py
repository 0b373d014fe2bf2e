"""Deserializing for all schema types: read the frame, look up the schema, decode."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any
from uuid import UUID

from compat.schema import SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient, RegistryClient
from serdes.client.flow import Flow, Later, called, finish
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import ConfigError, WrongSchemaType
from serdes.message import wire
from serdes.message.arguments import checked_client, checked_function
from serdes.message.config import CONFIG, DUAL, DeserializerConfig
from serdes.message.reading import Decode, ReaderFormat, Resolved, RuledDecoder
from serdes.message.ruled_reading import RuledReading
from serdes.rules import keys
from serdes.rules.counts import RuleCounts
from serdes.rules.settings import RuleSettings
from serdes.schema import Schema
from serdes.serialization import Context

FromDict = Callable[[Any, Any], Any]


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
        *,
        rules: RuleSettings | None = None,
        own: Schema | None = None,
        counts: RuleCounts | None = None,
    ) -> None:
        """Make a deserializer.

        Args:
            client: The registry's client; None if the schemas of messages need not be found.
            form: The part that depends on the schema type.
            config: The settings.
            reader: The reader's schema given in code; None to read with the writer's or the latest one.
            from_dict: Takes the datum and its context; returns an object.
            rules: The settings of rules; None to refuse schemas with rules for clients.
            own: The reader's schema with its own rules and metadata, if it has some.
            counts: Where messages are counted by rule and verdict; None for counts of its own.
        """
        if client is not None:
            checked_client(client, self.client_type)
        elif form.needs_writer or config.uses_latest:
            raise ConfigError("schema_registry_client", "needed to find the schemas that messages were written with")
        self.client = client
        self._form = form
        self._config = config
        self._reader = reader
        #: The number of messages by subject, rule, and what became of them there.
        self.rule_counts = RuleCounts() if counts is None else counts
        is_awaited = self.client_type is AsyncRegistryClient
        self._reading = RuledReading(form, config, rules, own, self.rule_counts, is_awaited=is_awaited)
        self._from_dict = checked_function("from_dict", from_dict)
        #: Decoders by topic, field and the first five bytes of the message.
        self._ready: dict[str, dict[str, dict[bytes, Decode]]] = {}
        #: The same for schemas with rules: messages of others do not pay for the look-up.
        self._ready_ruled: dict[tuple[str, str, bytes], RuledDecoder] = {}
        #: The time on the monotonic clock when the first of these expires; None for never.
        self._stale_at: float | None = None
        #: Decoders by topic, field and frame, each with its time of expiry if the reader's schema may change.
        self._decoders: dict[tuple[str | None, str | None, object], tuple[Decode | RuledDecoder, float | None]] = {}
        keys.notify_when_needed(self)
        if rules is not None and rules.names_dead_letters:
            keys.want()

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
            if ctx is not None and self._ready_ruled and data.__class__ is bytes:
                ruled = self._ready_ruled.get((ctx.topic, ctx.field, data[:5]))
                if ruled is not None and not (ctx.headers and self._in_header(ctx)):
                    datum = ruled(data, 5, keys.noted_message(ruled.subject, data, ctx))
                    return datum if self._from_dict is None else self._from_dict(datum, ctx)
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
        whole = data
        if self._form.indexed and frame.offset == 0:
            data = wire.header_indexes(frame, zigzag=self._form.zigzag) + data
        if isinstance(decode, RuledDecoder):
            datum = decode(data, frame.offset, keys.noted_message(decode.subject, whole, ctx))
            if isinstance(datum, Later):
                datum = yield from called(datum.function)
        else:
            if is_key and ctx is not None:
                keys.note(ctx, whole)
            datum = yield from self._decoded(decode, data, frame.offset)
        return datum if self._from_dict is None else self._from_dict(datum, ctx)

    def _decoded(self, decode: Decode, data: bytes, offset: int) -> Flow[Any]:
        try:
            datum = decode(data, offset)
            if isinstance(datum, Later):
                datum = yield from called(datum.function)
        except self._form.errors as error:
            raise self._form.explain(error, data) from error
        return datum

    def _frame_of_config(self) -> wire.Frame:
        """The frame of a message without one: the configured schema and, for Protobuf, its file's first message."""
        guid = self._config.use_schema_guid
        rest = wire.write_indexes((0,)) if self._form.indexed else b""
        return wire.Frame(self._config.use_schema_id, None if guid is None else UUID(guid), 0, rest)

    def decoder(self, frame: wire.Frame, ctx: Context | None) -> Flow[Decode | RuledDecoder]:
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
            self._ready_ruled.clear()
        if self.client is None or not (self._form.needs_writer or self._config.uses_latest):
            decode = yield from self._reading.without_writer(self._reader, ctx)
        else:
            decode = yield from self._resolve(self.client, frame, ctx)
        end = self._config.believed_until(self.client.latest_ttl if self.client else None)
        self._decoders[key] = (decode, end)
        if topic is not None and field is not None and frame.schema_id is not None and frame.offset:
            prefix = wire.prefix(frame.schema_id)
            if isinstance(decode, RuledDecoder):
                if not decode.is_awaited:
                    self._ready_ruled[topic, field, prefix] = decode
            elif field != "key" or not keys.are_needed():
                self._ready.setdefault(topic, {}).setdefault(field, {})[prefix] = decode
            if end is not None:
                self._stale_at = end if self._stale_at is None else min(end, self._stale_at)
        return decode

    def _forget_stale(self) -> None:
        # In this order: a decoder that another thread adds meanwhile is dropped, or its expiry is kept.
        self._stale_at = None
        self._ready.clear()
        self._ready_ruled.clear()

    def leave_fast_path(self) -> None:
        """Stop taking the fast path for keys, which does not note them for dead letters."""
        for by_field in list(self._ready.values()):
            by_field.pop("key", None)

    def _resolve(self, client: BaseClient, frame: wire.Frame, ctx: Context | None) -> Flow[Decode | RuledDecoder]:
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
        reader, subject = self._reader, id_subject
        version = None
        if self._config.uses_latest:
            version = yield from self._latest(client, ctx, info)
            reader, subject = version.schema, version.subject
        needed = (yield from endpoints.dependencies(info.schema, id_subject)) if self._form.needs_references else ()
        resolved: Resolved | None = None
        if reader is not None:
            resolved = (reader, (yield from endpoints.dependencies(reader, subject)))
        writer = yield from self._reading.writer(client, name, info, needed, ctx)
        return (yield from self._reading.decoder(endpoints, writer, (info.schema, needed), version, resolved))

    def _latest(self, client: BaseClient, ctx: Context | None, info: SchemaInfo) -> Flow[RegisteredSchema]:
        endpoints, config = client.endpoints, self._config
        subject = yield from config.naming.subject(endpoints, ctx, self._form.record_name(info.schema))
        if config.use_latest_with_metadata is not None:
            return (yield from endpoints.latest_with_metadata(subject, config.use_latest_with_metadata))
        return (yield from endpoints.version(subject))
