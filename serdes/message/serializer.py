"""Serializing for all schema types: choose the schema, encode, frame."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self

from compat.schema import Dependencies, SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient, RegistryClient
from serdes.client.flow import Flow, Later, called
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import ConfigError, SerializationError, WrongSchemaType
from serdes.message import wire
from serdes.message.config import SerializerConfig, checked_client, checked_function
from serdes.rules.seam import Ruled, before_encoding
from serdes.schema import Schema
from serdes.serialization import Context

ToDict = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder of a schema.

    Attributes:
        encode: Takes a datum; returns its payload or, for an asynchronous client, a Later.
        indexes: Protobuf's message indexes as bytes.
        covers: Takes a number of data and their total size in bytes of JSON; true if encoding them surely returns no
            Later, except for data that is refused. None if `encode` never returns one.
    """

    encode: Callable[[Any], Any]
    indexes: bytes = b""
    covers: Callable[[int, int], bool] | None = None


@dataclass(frozen=True, slots=True)
class WriterFormat:
    """The part of serializing that depends on the schema type.

    Attributes:
        schema_type: The type's name on the wire.
        record_name: The name that the record subject strategies use; None if there is none, or no schema.
        own_schema: Registers or looks up the references of the serializer's own schema; returns the schema, if any.
        encoder: Makes the encoder of a schema and its dependencies: the serializer's own schema or the registry's.
        errors: The exceptions that encoders raise.
        explain: Makes the exception for the caller from an encoder's exception and the datum.
        needs: The dependencies of the serializer's own schema; None to ask the registry.
    """

    schema_type: str
    record_name: str | None
    own_schema: Callable[[Context | None, str], Flow[SchemaText | None]]
    encoder: Callable[[SchemaText, Dependencies], Encoder]
    errors: tuple[type[Exception], ...]
    explain: Callable[[Exception, Any], Exception]
    needs: Callable[[], Dependencies] | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The schema that a subject's messages are written with: id, guid, subject and encoder."""

    id: int | None
    guid: str | None
    subject: str
    encoder: Encoder

    @property
    def prefix(self) -> bytes:
        """The bytes before the payload if the id is not in a header: magic, id and Protobuf's message indexes."""
        assert self.id is not None
        return wire.prefix(self.id) + self.encoder.indexes

    @property
    def header(self) -> bytes:
        """The value of the header that names the schema: magic, guid and Protobuf's message indexes.

        Raises:
            SerializationError: the registry gave no guid, as those before Confluent Platform 8.0 do.
        """
        if self.guid is None:
            raise SerializationError("the registry gives no guid, which the header mode of the wire format needs")
        return wire.guid_bytes(self.guid) + self.encoder.indexes


class Serializer:
    """Serializes data of one schema; safe to share between threads.

    The first message of a topic's key or value asks the registry, as the configuration says; later ones do not.
    """

    #: The class of clients that it accepts.
    client_type: type[BaseClient] = RegistryClient

    def __init__(
        self,
        client: BaseClient,
        form: WriterFormat,
        config: SerializerConfig,
        schema: Schema | None = None,
        to_dict: ToDict | None = None,
    ) -> None:
        self.client = checked_client(client, self.client_type)
        self._form = form
        self._config = config
        #: True if a setting says which of the registry's schemas to use, and the own schema is not registered.
        self.names_schema = config.names_schema and not config.registers
        self._to_dict = checked_function("to_dict", to_dict)
        self._metadata = schema.metadata_json if schema else None
        #: The rules of the serializer's own schema, as JSON of the registry's API.
        self.rule_set = schema.rule_set_json if schema else None
        #: Prefix and encoder by topic and field, for messages whose frame goes before the payload.
        self._ready: dict[str, dict[str, tuple[bytes, Callable[[Any], bytes]]]] = {}
        #: The time on the monotonic clock when the first of these expires; None for never.
        self._stale_at: float | None = None
        #: Schemas by topic and field, for frames in any place, each with its time of expiry.
        self._chosen: dict[tuple[str | None, str | None], tuple[Chosen, float | None]] = {}

    def __call__(self, obj: Any, ctx: Any = None) -> bytes | None:
        """The message's bytes; None, a tombstone, stays None.

        Args:
            obj: The datum, or the object that `to_dict` converts into one.
            ctx: Topic, field and headers of the message; may be None if the subject's name needs no topic.

        Raises:
            DatumMismatch: the datum does not fit the schema.
            SerializationError: it cannot be serialized for another reason; see `serdes.error`.
            RegistryError, RegistryUnavailable: the registry refuses the schema or does not answer.
        """
        if obj is None:
            return None
        if self._stale_at is not None and monotonic() >= self._stale_at:
            self._forget_stale()
        try:
            prefix, encode = self._ready[ctx.topic][ctx.field]
        except (KeyError, AttributeError):
            pass
        else:
            if self._to_dict is not None:
                obj = self._to_dict(obj, ctx)
            try:
                return prefix + encode(obj)
            except self._form.errors as error:
                raise self._form.explain(error, obj) from error
        assert isinstance(self.client, RegistryClient)
        return self.client.drive(self.message(obj, ctx))

    def message(self, obj: Any, ctx: Context | None) -> Flow[bytes]:
        """The message's bytes, as `__call__` returns them; asks the registry for what is not cached."""
        is_key = ctx is not None and ctx.field == "key"
        chosen = yield from self.chosen(ctx)
        in_header = self._config.in_header(is_key=is_key)
        if in_header and (ctx is None or ctx.headers is None):
            raise SerializationError("the schema's guid goes into a header: the context needs a list of headers")
        if self._to_dict is not None:
            obj = self._to_dict(obj, ctx)
        try:
            payload = chosen.encoder.encode(obj)
            if isinstance(payload, Later):
                payload = yield from called(payload.function)
        except self._form.errors as error:
            raise self._form.explain(error, obj) from error
        assert isinstance(payload, bytes)
        if not in_header:
            return chosen.prefix + payload
        assert ctx is not None
        wire.write_header(ctx.headers, wire.header_name(is_key=is_key), chosen.header)
        return payload

    def in_header(self, *, is_key: bool) -> bool:
        """True if the schema's guid goes into a header, false if its id goes before the payload."""
        return self._config.in_header(is_key=is_key)

    def chosen(self, ctx: Context | None) -> Flow[Chosen]:
        """The schema of a topic's keys or values: cached, or chosen now as for a first message."""
        key = (None, None) if ctx is None else (ctx.topic, ctx.field)
        cached = self._chosen.get(key)
        if cached is not None and (cached[1] is None or monotonic() < cached[1]):
            return cached[0]
        if cached is not None:
            self.client.clear_latest_caches()
        if len(self._chosen) >= self._config.capacity:
            self._chosen.clear()
            self._ready.clear()
        chosen = yield from self._resolve(ctx)
        end = self._config.believed_until(self.client.latest_ttl)
        self._chosen[key] = (chosen, end)
        if ctx is not None and not self._config.in_header(is_key=ctx.field == "key"):
            self._ready.setdefault(ctx.topic, {})[ctx.field] = (chosen.prefix, chosen.encoder.encode)
            if end is not None:
                self._stale_at = end if self._stale_at is None else min(end, self._stale_at)
        return chosen

    def _forget_stale(self) -> None:
        # In this order: an entry that another thread adds meanwhile is dropped, or its expiry is kept.
        self._stale_at = None
        self._ready.clear()

    def _resolve(self, ctx: Context | None) -> Flow[Chosen]:
        endpoints, config = self.client.endpoints, self._config
        subject = yield from config.naming.subject(endpoints, ctx, self._form.record_name)
        own_schema = yield from self._form.own_schema(ctx, subject)
        schema = None if self.names_schema else own_schema
        # The encoder comes first: a schema without an encoder is not registered.
        encoder = (yield from self._encoder(schema, subject, own_schema)) if schema is not None else None
        registered = yield from self.registered(subject, own_schema)
        if schema is None or encoder is None:
            schema = registered.schema
            encoder = yield from self._encoder(schema, subject, own_schema)
        encoder = before_encoding(Ruled(_named(subject), schema, registered.rule_set), encoder)
        schema_id = registered.id
        if schema_id is None and not config.in_header(is_key=ctx is not None and ctx.field == "key"):
            schema_id = (yield from endpoints.lookup(subject, schema)).id
        return Chosen(schema_id, registered.guid, subject, encoder)

    def registered(self, subject: str, own_schema: SchemaText | None) -> Flow[RegisteredSchema | SchemaInfo]:
        """The registry's version of the schema to write with: registered, looked up, or named by a setting."""
        endpoints, config = self.client.endpoints, self._config
        if self.names_schema:
            return (yield from self._version(subject))
        if own_schema is None:
            raise ConfigError("schema_str", "needed if no setting says which of the registry's schemas to use")
        if not config.registers:
            form = config.schema_format
            return (yield from endpoints.lookup(subject, own_schema, normalize=config.normalize, format=form))
        return (
            yield from endpoints.register(
                subject,
                own_schema,
                normalize=config.normalize,
                metadata=self._metadata,
                rule_set=self.rule_set,
                propagate_schema_tags=config.propagate_tags,
                format=config.schema_format,
            )
        )

    def _encoder(self, schema: SchemaText, subject: str, own_schema: SchemaText | None) -> Flow[Encoder]:
        if schema.schema_type != self._form.schema_type:
            raise WrongSchemaType(_named(subject), schema.schema_type, self._form.schema_type)
        dependencies = yield from self._dependencies(schema, subject, is_own=schema is own_schema)
        if schema is not own_schema and own_schema is not None and own_schema != schema:
            yield from self._check(_named(subject), schema, dependencies, own_schema, subject)
        return (yield from called(lambda: self._form.encoder(schema, dependencies)))

    def _version(self, subject: str) -> Flow[RegisteredSchema | SchemaInfo]:
        endpoints, config = self.client.endpoints, self._config
        if config.use_schema_id is not None:
            return (yield from endpoints.schema_by_id(config.use_schema_id, subject))
        if config.use_schema_guid is not None:
            return (yield from endpoints.schema_by_guid(config.use_schema_guid))
        if config.use_latest_with_metadata is not None:
            return (yield from endpoints.latest_with_metadata(subject, config.use_latest_with_metadata))
        return (yield from endpoints.version(subject))

    def _dependencies(self, schema: SchemaText, subject: str, *, is_own: bool) -> Flow[Dependencies]:
        if is_own and self._form.needs is not None:
            return self._form.needs()
        return (yield from self.client.endpoints.dependencies(schema, subject))

    def _check(
        self, name: str, schema: SchemaText, dependencies: Dependencies, own_schema: SchemaText, subject: str
    ) -> Flow[None]:
        config = self._config
        strict, setting = (
            (config.latest_strict, "latest.compatibility.strict")
            if config.uses_latest
            else (config.id_strict, "id.compatibility.strict")
        )
        if strict:
            from serdes.message.strict import assert_reads  # noqa: PLC0415  # most serializers never compare schemas

            needed = yield from self._dependencies(own_schema, subject, is_own=True)
            assert_reads(name, setting, reader=(schema, dependencies), writer=(own_schema, needed))


class AsyncSerializer:
    """A serializer for an AsyncRegistryClient: it takes the same arguments, and its calls are awaited.

    It may also be made with `await`, as confluent-kafka's is.
    """

    #: The serializer that does the work.
    twin: type[Serializer]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._serializer = self.twin(*args, **kwargs)

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self

    async def __call__(self, obj: Any, ctx: Any = None) -> bytes | None:
        """The message's bytes; see Serializer."""
        client = self._serializer.client
        assert isinstance(client, AsyncRegistryClient)
        return None if obj is None else await client.drive(self._serializer.message(obj, ctx))


def _named(subject: str) -> str:
    """The name, in error texts, of the schema that a subject's messages are written with."""
    return f"the schema of subject {subject}"
