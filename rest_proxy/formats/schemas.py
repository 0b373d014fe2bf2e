"""Schemas as the proxy uses them: settled once by the serializers' and deserializers' flows, and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import NamedTuple, TypeVar
from uuid import UUID

from compat.schema import Reference, SchemaText
from rest_proxy.errors import (
    INVALID_PAYLOAD,
    INVALID_SCHEMA,
    KAFKA_AUTHORIZATION,
    SERIALIZATION,
    SERIALIZING_FAILED,
)
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.plain import DataError, Options
from rest_proxy.formats.writers import Writer, reading, writing
from rest_proxy.http.rights import ProxyRights
from serdes.client.clients import AsyncRegistryClient, BaseClient
from serdes.client.flow import Flow, called
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import (
    RegistryError,
    RulesNotSupported,
    SchemaCompileError,
    SchemaRefused,
    SerdesError,
    SerializationError,
    SubjectNotFound,
    VersionNotFound,
    WrongSchemaType,
)
from serdes.message.deserializer import Deserializer
from serdes.message.serializer import Chosen, Serializer
from serdes.message.subject import Naming
from serdes.message.wire import Frame
from serdes.rules.seam import Ruled, before_encoding
from serdes.serialization import SerializationContext
from serdes.text import TextOptions, deserializing, serializing, text_form

#: How many codecs are kept in each direction; the one unused for longest goes first.
CACHED = 1000

V = TypeVar("V")
#: What a message names its schema by.
SchemaId = int | UUID
#: From a message and the offset of its payload to JSON text; it raises DataError.
Read = Callable[[bytes, int], bytes]
#: Raises if a request has no right to write with its schemas under a subject; None for one that is not known yet.
Require = Callable[[str | None], None]


class Source(NamedTuple):
    """The schema of a request's keys or values: by text, with references, or by id; or none at all."""

    text: str | None = None
    schema_id: int | None = None
    references: tuple[Reference, ...] = ()


class Side(NamedTuple):
    """The keys or the values of a topic."""

    topic: str
    #: `key` or `value`.
    field: str


class Schemas:
    """Finds writers and readers; every answer of the registry that cannot change is asked for once."""

    def __init__(
        self, client: AsyncRegistryClient | None, naming: Naming, *, null_is_always_tombstone: bool = False
    ) -> None:
        """Nothing is asked yet.

        Args:
            client: Of the registry; None without one.
            naming: How subjects are named.
            null_is_always_tombstone: Also where the schema takes null.
        """
        self._client = client
        self._naming = naming
        self._null_is_always_tombstone = null_is_always_tombstone
        self._writers: OrderedDict[Hashable, Writer] = OrderedDict()
        self._readers: OrderedDict[Hashable, Read] = OrderedDict()
        self._deserializers: dict[Hashable, Deserializer] = {}

    async def writer(
        self, form: EmbeddedFormat, side: Side, source: Source, options: Options, rights: ProxyRights | None = None
    ) -> Writer:
        """The writer for keys or values; a text that their subject does not hold yet is registered.

        The registry only knows the proxy, so with rules the proxy asks for the right to the subject itself: WRITE for a
        text, READ for an id and for what a text refers to.

        Raises:
            ApiError: INVALID_SCHEMA; SERIALIZING_FAILED if the registry refuses or does not answer, or if the schema
                has rules that the proxy would have to carry out; INVALID_PAYLOAD if there is no registry; SERIALIZATION
                if the schema has no name to go by; KAFKA_AUTHORIZATION if a right is missing.
        """
        require = _requirement(source, rights)
        key = (form.name, side, source, options)
        known = _recent(self._writers, key)
        if known is not None:
            require(known.subject)
            return known
        try:
            chosen = await self._chosen(form, side, source, options, require)
        except RulesNotSupported as error:
            raise SERIALIZING_FAILED(detail=str(error)) from None
        writer = writing(chosen, null_is_tombstone=self._null_is_always_tombstone)
        return _keep(self._writers, key, writer)

    async def _chosen(
        self, form: EmbeddedFormat, side: Side, source: Source, options: Options, require: Require
    ) -> Chosen:
        registry = self._registry()
        strategy = self._naming.key if side.field == "key" else self._naming.value
        assert strategy is not None
        assert form.schema_type is not None
        context = SerializationContext(*side)
        hint = strategy(context, None)
        require(hint)
        schema = await self._given(form, hint, source)
        try:
            return await registry.drive(self._settled(registry, schema, source, options, context, require))
        except SchemaRefused as error:
            raise INVALID_SCHEMA(detail=error.message) from None
        except SchemaCompileError as error:
            raise INVALID_SCHEMA(detail=error.detail) from None
        except RulesNotSupported:
            raise
        except SerializationError:
            raise SERIALIZATION(
                detail=f"The subject of {side.field}s is named after their record, and the schema has none."
            ) from None
        except SerdesError as error:
            what = f"format = {form.schema_type}, subject = {hint}, schema = {schema.text}"
            raise _failed(f"Error when registering schema. {what}", error) from None

    def _settled(
        self,
        registry: AsyncRegistryClient,
        schema: SchemaText,
        source: Source,
        options: Options,
        context: SerializationContext,
        require: Require,
    ) -> Flow[Chosen]:
        # Even to find the name in a long schema takes long.
        serializer = yield from called(
            lambda: _Serializer(registry, self._naming, schema, source.schema_id, options, require)
        )
        return (yield from serializer.chosen(context))

    async def _given(self, form: EmbeddedFormat, subject: str | None, source: Source) -> SchemaText:
        assert form.schema_type is not None
        if source.text is not None:
            return SchemaText(form.schema_type, source.text, source.references)
        assert source.schema_id is not None
        try:
            info = await self._registry().schema_by_id(source.schema_id, subject)
        except SerdesError as error:
            raise _failed(f"Error when fetching schema by id. schemaId = {source.schema_id}", error) from None
        if info.schema.schema_type != form.schema_type:
            text = f"Schema {source.schema_id} is of type {info.schema.schema_type}, not {form.schema_type}."
            raise SERIALIZING_FAILED(detail=text)
        return before_encoding(Ruled(f"schema {source.schema_id}", info.schema, info.rule_set), info.schema)

    def known_reader(self, form: EmbeddedFormat, schema_id: SchemaId, options: Options) -> Read | None:
        """The decoder for an id or guid, if it was resolved before."""
        return _recent(self._readers, (form.name, schema_id, options))

    async def reader(self, form: EmbeddedFormat, schema_id: SchemaId, options: Options) -> Read:
        """The decoder for the schema of an id or guid.

        Raises:
            DataError: The registry has no such schema, or one of another type, or one with rules that the proxy would
                have to carry out.
        """
        known = self.known_reader(form, schema_id, options)
        if known is not None:
            return known
        frame = Frame(schema_id, None, 0) if isinstance(schema_id, int) else Frame(None, schema_id, 0)
        name = f"schema {schema_id}"
        try:
            decode = await self._registry().drive(self._deserializer(form, options).decoder(frame, None))
        except WrongSchemaType as error:
            raise DataError("", f"{name} is of type {error.schema_type}, not {form.schema_type}") from None
        except RulesNotSupported as error:
            raise DataError("", str(RulesNotSupported(name, error.rules))) from None
        except SchemaCompileError as error:
            raise DataError("", f"{name} cannot be used: {error.detail}") from None
        except SerdesError as error:
            raise DataError("", f"{name}: {error}") from None
        return _keep(self._readers, (form.name, schema_id, options), reading(decode))

    def _deserializer(self, form: EmbeddedFormat, options: Options) -> Deserializer:
        """The flow that finds the schemas of messages; what is read was checked when it was written."""
        key = (form.name, options)
        if key not in self._deserializers:
            assert form.schema_type is not None
            config = text_form(form.schema_type).reading.load({"validate": False} if form.schema_type == "JSON" else {})
            part = deserializing(form.schema_type, config, _text_options(options))
            self._deserializers[key] = _Deserializer(self._registry(), part, config)
        return self._deserializers[key]

    def _registry(self) -> AsyncRegistryClient:
        if self._client is None:
            raise INVALID_PAYLOAD(detail="Schema Registry must be configured when using schemas.")
        return self._client

    async def close(self) -> None:
        """Close the connections to the registry."""
        if self._client is not None:
            await self._client.close()


class _Serializer(Serializer):
    """The serializers' flow for a schema of a request; by id, the subject must hold it already."""

    client_type: type[BaseClient] = AsyncRegistryClient

    def __init__(
        self,
        client: AsyncRegistryClient,
        naming: Naming,
        schema: SchemaText,
        schema_id: int | None,
        options: Options,
        require: Require,
    ) -> None:
        config = replace(text_form(schema.schema_type).writing(), naming=naming)
        super().__init__(client, serializing(schema, schema.schema_type, config, _text_options(options)), config)
        self._schema_id = schema_id
        self._require = require

    def held(self, subject: str, own: SchemaText | None) -> Flow[RegisteredSchema | SchemaInfo]:
        """The subject's version of the schema: looked up first, so that most requests write nothing."""
        self._require(subject)
        assert own is not None
        endpoints = self.client.endpoints
        if self._schema_id is None:
            yield from self._refuse_latest_rules(subject)
        try:
            return (yield from endpoints.lookup(subject, own))
        except RegistryError as missing:
            if self._schema_id is not None:
                what = f"subject = {subject}, schemaId = {self._schema_id}"
                raise _failed(f"Error when fetching schema version. {what}", missing) from None
        return (yield from endpoints.register(subject, own))

    def _refuse_latest_rules(self, subject: str) -> Flow[None]:
        """Stop at rules of the subject's latest version: a text that is registered without rules inherits them.

        A look-up alone would find the text in an earlier version, from before the rules.
        """
        self.client.clear_latest_caches()
        try:
            latest = yield from self.client.endpoints.version(subject)
        except (SubjectNotFound, VersionNotFound):
            return
        before_encoding(Ruled(f"the latest version of subject {subject}", latest.schema, latest.rule_set), None)


class _Deserializer(Deserializer):
    client_type: type[BaseClient] = AsyncRegistryClient


def _requirement(source: Source, rights: ProxyRights | None) -> Require:
    def require(subject: str | None) -> None:
        if rights is None:
            return
        if subject is not None:
            rights.require(("READ" if source.text is None else "WRITE",), "SUBJECT", subject)
        for reference in source.references:
            rights.require(("READ",), "SUBJECT", reference.subject)

    return require


def _text_options(options: Options) -> TextOptions:
    return TextOptions(plain_unions=options.plain_unions, holds_up_others=True)


def _failed(what: str, error: SerdesError) -> Exception:
    if isinstance(error, RegistryError) and error.code == KAFKA_AUTHORIZATION.code:
        return KAFKA_AUTHORIZATION(detail=error.message)
    return SERIALIZING_FAILED(detail=f"{what}\n{error}")


def _recent(cache: OrderedDict[Hashable, V], key: Hashable) -> V | None:
    found = cache.get(key)
    if found is not None:
        cache.move_to_end(key)
    return found


def _keep(cache: OrderedDict[Hashable, V], key: Hashable, value: V) -> V:
    cache[key] = value
    if len(cache) > CACHED:
        cache.popitem(last=False)
    return value
