"""The proxy's writers and readers of schema data, found by the flows of serializers and deserializers, and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import NamedTuple, TypeVar
from uuid import UUID

from compat.schema import Reference, SchemaText
from magicbyte.kit.errors import ApiError
from rest_proxy.errors import (
    INVALID_PAYLOAD,
    INVALID_SCHEMA,
    SERIALIZATION,
    SERIALIZING_FAILED,
)
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.plain import DataError, Options
from rest_proxy.formats.schema_rights import Require, as_if_missing, failed, id_failed, requirement
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

#: How many writers, and how many readers, are cached; the least recently used one is dropped first.
CACHED = 1000

V = TypeVar("V")
#: The id or guid of a message's schema.
SchemaId = int | UUID
#: Turns a message, from the offset of its payload, into JSON text; raises DataError.
Read = Callable[[bytes, int], bytes]


class Source(NamedTuple):
    """The schema of a request's keys or values: a text with references, or an id."""

    text: str | None = None
    schema_id: int | None = None
    references: tuple[Reference, ...] = ()


class Side(NamedTuple):
    """The keys or the values of a topic."""

    topic: str
    #: `key` or `value`.
    field: str


class Schemas:
    """Finds writers and readers, and caches answers of the registry that cannot change."""

    def __init__(
        self, client: AsyncRegistryClient | None, naming: Naming, *, null_is_always_tombstone: bool = False
    ) -> None:
        """Prepare without a request to the registry.

        Args:
            client: The client of the registry; None if there is no registry.
            naming: The subject name strategies.
            null_is_always_tombstone: Treat null as a tombstone even if the schema accepts null.
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
        """Find the writer for keys or values; registers a text that is not registered under the subject.

        The registry only knows the proxy, so the proxy checks the client's rights to the subject itself: WRITE for a
        text, READ for an id and for the subjects that a text refers to.

        Raises:
            ApiError: INVALID_SCHEMA; SERIALIZING_FAILED if the registry refuses or does not answer, or if the schema
                has rules that the proxy would have to run; INVALID_PAYLOAD if there is no registry; SERIALIZATION
                if the subject depends on the schema's name and it has none; KAFKA_AUTHORIZATION if a right is missing.
                A schema by id that the client may not read looks like a missing one.
        """
        require = requirement("READ" if source.text is None else "WRITE", source.references, rights)
        key = (form.name, side, source, options)
        cached = _recent(self._writers, key)
        try:
            if cached is not None:
                require(cached.subject)
                return cached
            chosen = await self._chosen(form, side, source, options, require)
        except RulesNotSupported as error:
            raise await self._shown(SERIALIZING_FAILED(detail=str(error)), side, source, rights) from None
        except ApiError as error:
            raise await self._shown(error, side, source, rights) from None
        writer = writing(chosen, null_is_tombstone=self._null_is_always_tombstone)
        return _keep(self._writers, key, writer)

    async def _shown(self, error: ApiError, side: Side, source: Source, rights: ProxyRights | None) -> ApiError:
        """Return an error as the client may see it; see `as_if_missing`."""
        if source.schema_id is None or rights is None:
            return error
        subject = self._subject_named(side)
        if subject is not None and not rights.may("READ", "SUBJECT", subject):
            # The refusal is by name, and no schema was looked up.
            return error
        return await as_if_missing(error, source.schema_id, rights, self._registry())

    def _subject_named(self, side: Side) -> str | None:
        """The subject of the keys or values of a topic; None if it depends on the schema."""
        strategy = self._naming.key if side.field == "key" else self._naming.value
        assert strategy is not None
        return strategy(SerializationContext(*side), None)

    async def _chosen(
        self, form: EmbeddedFormat, side: Side, source: Source, options: Options, require: Require
    ) -> Chosen:
        registry = self._registry()
        assert form.schema_type is not None
        context = SerializationContext(*side)
        hint = self._subject_named(side)
        require(hint)
        schema = await self._schema_of(form, hint, source)
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
            details = f"format = {form.schema_type}, subject = {hint}, schema = {schema.text}"
            raise failed(f"Error when registering schema. {details}", error) from None

    def _settled(
        self,
        registry: AsyncRegistryClient,
        schema: SchemaText,
        source: Source,
        options: Options,
        context: SerializationContext,
        require: Require,
    ) -> Flow[Chosen]:
        # `called` keeps this off the event loop: even finding the name in a long schema takes long.
        serializer = yield from called(
            lambda: _Serializer(registry, self._naming, schema, source.schema_id, options, require)
        )
        return (yield from serializer.chosen(context))

    async def _schema_of(self, form: EmbeddedFormat, subject: str | None, source: Source) -> SchemaText:
        assert form.schema_type is not None
        if source.text is not None:
            return SchemaText(form.schema_type, source.text, source.references)
        assert source.schema_id is not None
        try:
            info = await self._registry().schema_by_id(source.schema_id, subject)
        except SerdesError as error:
            raise id_failed(source.schema_id, error) from None
        if info.schema.schema_type != form.schema_type:
            text = f"Schema {source.schema_id} is of type {info.schema.schema_type}, not {form.schema_type}."
            raise SERIALIZING_FAILED(detail=text)
        return before_encoding(Ruled(f"schema {source.schema_id}", info.schema, info.rule_set), info.schema)

    def known_reader(self, form: EmbeddedFormat, schema_id: SchemaId, options: Options) -> Read | None:
        """The cached decoder for the schema with an id or guid; None if it is not cached."""
        return _recent(self._readers, (form.name, schema_id, options))

    async def reader(self, form: EmbeddedFormat, schema_id: SchemaId, options: Options) -> Read:
        """Find the decoder for the schema with an id or guid.

        Raises:
            DataError: The registry has no such schema, or it has another type, or rules that the proxy would have to
                run.
        """
        cached = self.known_reader(form, schema_id, options)
        if cached is not None:
            return cached
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
        """The flow that finds the schemas of messages; it does not validate, because writers have done so."""
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
    """The flow of serializers for a schema of a request; a schema by id must be registered under the subject."""

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

    def registered(self, subject: str, own_schema: SchemaText | None) -> Flow[RegisteredSchema | SchemaInfo]:
        """The subject's version of the schema: looked up first, so that most requests register nothing."""
        self._require(subject)
        assert own_schema is not None
        endpoints = self.client.endpoints
        if self._schema_id is None:
            yield from self._refuse_latest_rules(subject)
        try:
            return (yield from endpoints.lookup(subject, own_schema))
        except RegistryError as missing:
            if self._schema_id is not None:
                details = f"subject = {subject}, schemaId = {self._schema_id}"
                raise failed(f"Error when fetching schema version. {details}", missing) from None
        return (yield from endpoints.register(subject, own_schema))

    def _refuse_latest_rules(self, subject: str) -> Flow[None]:
        """Refuse rules of the subject's latest version, because a text that is registered without rules inherits them.

        A look-up alone may find the text in an earlier version without rules.
        """
        self.client.clear_latest_caches()
        try:
            latest = yield from self.client.endpoints.version(subject)
        except (SubjectNotFound, VersionNotFound):
            return
        before_encoding(Ruled(f"the latest version of subject {subject}", latest.schema, latest.rule_set), None)


class _Deserializer(Deserializer):
    client_type: type[BaseClient] = AsyncRegistryClient


def _text_options(options: Options) -> TextOptions:
    return TextOptions(plain_unions=options.plain_unions, holds_up_others=True)


def _recent(cache: OrderedDict[Hashable, V], key: Hashable) -> V | None:
    value = cache.get(key)
    if value is not None:
        cache.move_to_end(key)
    return value


def _keep(cache: OrderedDict[Hashable, V], key: Hashable, value: V) -> V:
    cache[key] = value
    if len(cache) > CACHED:
        cache.popitem(last=False)
    return value
