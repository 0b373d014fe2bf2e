"""The proxy's writers and readers of schema data, found by the flows of serializers and deserializers, and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from compat.schema import Reference, SchemaText
from magicbyte.kit.errors import ApiError
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import (
    BAD_REQUEST,
    INVALID_PAYLOAD,
    INVALID_SCHEMA,
    SERIALIZATION,
    SERIALIZING_FAILED,
)
from rest_proxy.formats.embedded import FORM_OF_TYPE, EmbeddedFormat
from rest_proxy.formats.flows import ProxyDeserializer, ProxySerializer, RulesAtClients, SchemaRules, text_options
from rest_proxy.formats.frame_places import header_name
from rest_proxy.formats.plain import DataError, Options
from rest_proxy.formats.ruled import RuledReading, TopicSide
from rest_proxy.formats.schema_reading import SchemaId, SchemaReading
from rest_proxy.formats.schema_rights import Require, as_if_missing, failed, fetched_by, requirement
from rest_proxy.formats.writers import Writer, reading, writing
from rest_proxy.settings import FramePlaces
from serdes.client.clients import AsyncRegistryClient
from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow, called
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import (
    SchemaCompileError,
    SchemaRefused,
    SerdesError,
    SerializationError,
    WrongSchemaType,
)
from serdes.message.deserializer import Deserializer
from serdes.message.reading import Decode, RuledDecoder
from serdes.message.subject import Naming, Strategy
from serdes.message.wire import Frame
from serdes.serialization import SerializationContext
from serdes.text import deserializing, text_form

#: How many writers, and how many readers, are cached; the least recently used one is dropped first.
CACHED = 1000

V = TypeVar("V")
#: Turns a message, from the offset of its payload, into JSON text; raises DataError.
Read = Callable[[bytes, int], bytes]
#: The version of a source that means the subject's latest one.
LATEST = -1
#: How long a subject's latest version is trusted, in seconds.
_LATEST_SECONDS = 1.0
#: How long to remember that the registry lacks a schema, in seconds.
_UNKNOWN_SECONDS = 30.0


class Source(NamedTuple):
    """The schema of a request's keys or values: a text with references, an id or guid, or a subject's version.

    `subject`, or the subject of `naming`, replaces that of the settings. `in_header` says where the frame goes, unless
    it is None.
    """

    text: str | None = None
    schema_id: SchemaId | None = None
    references: tuple[Reference, ...] = ()
    version: int | None = None
    subject: str | None = None
    naming: Strategy | None = None
    in_header: bool | None = None


class Side(NamedTuple):
    """The keys or the values of a topic."""

    topic: str
    #: `key` or `value`.
    field: str


class Schemas:
    """Finds writers and readers, and caches answers of the registry that cannot change."""

    def __init__(
        self,
        client: AsyncRegistryClient | None,
        naming: Naming,
        frame_places: FramePlaces,
        rules: SchemaRules,
        *,
        null_is_always_tombstone: bool = False,
    ) -> None:
        """Prepare without a request to the registry.

        Args:
            client: The client of the registry; None if there is no registry.
            naming: The subject name strategies.
            frame_places: Where frames go.
            rules: The settings of rules, and where their verdicts are counted.
            null_is_always_tombstone: Treat null as a tombstone even if the schema accepts null.
        """
        self._client = client
        self._naming = naming
        self._frame_places = frame_places
        self._rules = rules
        self._null_is_always_tombstone = null_is_always_tombstone
        # Each record asks for its writer: a cache of cachetools takes three times as long as these.
        self._writers: OrderedDict[Hashable, Writer] = OrderedDict()
        self._readers: OrderedDict[Hashable, Read | RuledReading] = OrderedDict()
        self._deserializers: dict[Hashable, Deserializer] = {}
        #: Schema -> when to ask again if it has no format, and its format.
        self._forms: dict[SchemaId, tuple[float, EmbeddedFormat | None]] = {}
        self._reading = SchemaReading()
        #: Subject -> when to ask again, and its latest version.
        self._latest: dict[str, tuple[float, int]] = {}

    async def writer(
        self,
        form: EmbeddedFormat | None,
        side: Side,
        source: Source,
        options: Options,
        rights: ProxyRights | None = None,
    ) -> Writer:
        """Find the writer for keys or values; registers a text that is not registered under the subject.

        The registry only knows the proxy, so the proxy checks the client's rights to the subject itself: WRITE for a
        text, READ for an id or a version, and for the subjects that a text refers to.

        Args:
            form: The format that the schema must have; None for the registered schema's format.
            side: The keys or values of a topic.
            source: The schema.
            options: How schema data is written in JSON.
            rights: The client's rights; None if access is not restricted.

        Raises:
            ApiError: INVALID_SCHEMA; SERIALIZING_FAILED if the registry refuses, does not answer, or gives no guid for
                a header, or if the schema has rules that the proxy would have to run; INVALID_PAYLOAD if there is no
                registry; SERIALIZATION if the subject depends on the schema's name and it has none;
                KAFKA_AUTHORIZATION if a right is missing; BAD_REQUEST if a version is requested and the subject
                depends on the schema's name.
                A schema by id that the client may not read looks like a missing one.
        """
        require = requirement("READ" if source.text is None else "WRITE", source.references, rights)
        try:
            if source.version == LATEST:
                source = source._replace(version=await self._latest_version(side, source, require))
            key = (form and form.name, side, source, options)
            cached = _recent(self._writers, key)
            if cached is not None:
                require(cached.subject)
                return cached
            return _keep(self._writers, key, await self._made(form, side, source, options, require))
        except RulesAtClients as error:
            raise await self._shown(SERIALIZING_FAILED(detail=str(error)), side, source, rights) from None
        except ApiError as error:
            raise await self._shown(error, side, source, rights) from None

    async def _shown(self, error: ApiError, side: Side, source: Source, rights: ProxyRights | None) -> ApiError:
        """Return an error as the client may see it; see `as_if_missing`."""
        if source.schema_id is None or rights is None:
            return error
        subject = self._naming_of(side, source)(SerializationContext(*side), None)
        if subject is not None and not rights.may("READ", "SUBJECT", subject):
            # The refusal is by name, and no schema was looked up.
            return error
        return await as_if_missing(error, source.schema_id, rights, self._registry())

    def _naming_of(self, side: Side, source: Source) -> Strategy:
        if source.subject is not None:
            subject = source.subject
            return lambda _context, _name: subject
        strategy = source.naming or (self._naming.key if side.field == "key" else self._naming.value)
        assert strategy is not None
        return strategy

    def _header_name(self, side: Side, source: Source) -> str | None:
        """The header for the frame; None if it goes before the data."""
        of_settings = self._frame_places.key if side.field == "key" else self._frame_places.value
        in_header = of_settings if source.in_header is None else source.in_header
        return header_name(side.field) if in_header else None

    def _subject_of_version(self, side: Side, source: Source) -> str:
        subject = self._naming_of(side, source)(SerializationContext(*side), None)
        if subject is None:
            text = "the subject is named after the schema's record: give subject, schema_id or schema."
            raise BAD_REQUEST(detail=f"{side.field}: {text}")
        return subject

    async def _latest_version(self, side: Side, source: Source, require: Require) -> int:
        subject = self._subject_of_version(side, source)
        require(subject)
        end, version = self._latest.get(subject, (0.0, 0))
        if monotonic() >= end:
            registry = self._registry()
            registry.clear_latest_caches()
            try:
                version = (await registry.drive(registry.endpoints.version(subject))).version
            except SerdesError as error:
                raise failed(f"Error when fetching latest schema version. subject = {subject}", error) from None
            if len(self._latest) >= CACHED:
                self._latest.clear()
            self._latest[subject] = (monotonic() + _LATEST_SECONDS, version)
        return version

    async def _made(
        self, form: EmbeddedFormat | None, side: Side, source: Source, options: Options, require: Require
    ) -> Writer:
        registry = self._registry()
        naming = self._naming_of(side, source)
        context = SerializationContext(*side)
        hint = naming(context, None)
        require(hint)
        schema, registration = await self._schema_of(form, hint, side, source)
        try:
            # `called` keeps this off the event loop: even finding the name in a long schema takes long.
            serializer = await registry.drive(
                called(
                    lambda: ProxySerializer(
                        registry, Naming(naming, naming), schema, registration, options, require, self._rules
                    )
                )
            )
            chosen = await registry.drive(serializer.chosen(context))
        except SchemaRefused as error:
            raise INVALID_SCHEMA(detail=error.message) from None
        except SchemaCompileError as error:
            raise INVALID_SCHEMA(detail=error.detail) from None
        except RulesAtClients:
            raise
        except SerializationError as error:
            if hint is not None:
                raise SERIALIZING_FAILED(detail=str(error)) from None
            raise SERIALIZATION(
                detail=f"The subject of {side.field}s is named after their record, and the schema has none."
            ) from None
        except SerdesError as error:
            details = f"format = {schema.schema_type}, subject = {hint}, schema = {schema.text}"
            raise failed(f"Error when registering schema. {details}", error) from None
        try:
            return writing(
                chosen,
                schema,
                serializer.version,
                self._header_name(side, source),
                TopicSide(side.topic, side.field == "key"),
                null_is_tombstone=self._null_is_always_tombstone,
            )
        except SerializationError as error:
            raise SERIALIZING_FAILED(detail=f"{side.field}: {error}") from None

    async def _schema_of(
        self, form: EmbeddedFormat | None, subject: str | None, side: Side, source: Source
    ) -> tuple[SchemaText, SchemaId | RegisteredSchema | None]:
        """The schema, and its id or version if the request names one."""
        if source.text is not None:
            assert form is not None
            assert form.schema_type is not None
            return SchemaText(form.schema_type, source.text, source.references), None
        registry = self._registry()
        info: SchemaInfo | RegisteredSchema
        question: Flow[Any]
        if source.schema_id is not None:
            failure, name = fetched_by(source.schema_id), f"schema {source.schema_id}"
            question = _schema_by(source.schema_id, registry.endpoints, subject)
        else:
            subject = self._subject_of_version(side, source)
            failure = f"version. subject = {subject}, version = {source.version}"
            name = f"version {source.version} of subject {subject}"
            question = registry.endpoints.version(subject, source.version or 0)
        try:
            info = await registry.drive(question)
        except SerdesError as error:
            raise failed(f"Error when fetching schema {failure}", error) from None
        if form is not None and info.schema.schema_type != form.schema_type:
            text = f"{name.capitalize()} is of type {info.schema.schema_type}, not {form.schema_type}."
            raise SERIALIZING_FAILED(detail=text)
        return info.schema, info if isinstance(info, RegisteredSchema) else source.schema_id

    async def form_of(self, schema_id: SchemaId, rights: ProxyRights | None = None) -> EmbeddedFormat | None:
        """The format of the schema with an id or guid; None if the registry has no such schema, or there is none.

        Raises:
            DataError: The client may not read the schema, or the registry does not answer whether it may.
        """
        if rights is not None and self._client is not None:
            await self._reading.require(schema_id, rights, self._client)
        end, form = self._forms.get(schema_id, (0.0, None))
        if self._client is None or form is not None or monotonic() < end:
            return form
        try:
            info = await self._client.drive(_schema_by(schema_id, self._client.endpoints))
            form = FORM_OF_TYPE.get(info.schema.schema_type)
        except SerdesError:
            form = None
        if len(self._forms) >= CACHED:
            self._forms.clear()
        self._forms[schema_id] = (monotonic() + _UNKNOWN_SECONDS, form)
        return form

    async def reader(
        self, form: EmbeddedFormat, schema_id: SchemaId, options: Options, rights: ProxyRights | None = None
    ) -> Read | RuledReading:
        """Find the decoder for the schema with an id or guid.

        All clients share the decoders, so the right to the schema is checked first.

        Args:
            form: The format that the schema must have.
            schema_id: The id or guid.
            options: How schema data is written in JSON.
            rights: The client's rights; None if access is not restricted.

        Raises:
            DataError: The client may not read the schema; the registry has no such schema, or it has another type.
        """
        if rights is not None:
            await self._reading.require(schema_id, rights, self._registry())
        cached = _recent(self._readers, (form.name, schema_id, options))
        if cached is not None:
            return cached
        decode = await self._decoder(form, schema_id, options, None)
        if not isinstance(decode, RuledDecoder):
            return _keep(self._readers, (form.name, schema_id, options), reading(decode))

        async def of_place(place: TopicSide) -> RuledDecoder:
            ruled = await self._decoder(form, schema_id, options, place)
            assert isinstance(ruled, RuledDecoder)
            return ruled

        return _keep(self._readers, (form.name, schema_id, options), RuledReading(decode, of_place))

    async def _decoder(
        self, form: EmbeddedFormat, schema_id: SchemaId, options: Options, place: TopicSide | None
    ) -> Decode | RuledDecoder:
        frame = Frame(schema_id, None, 0) if isinstance(schema_id, int) else Frame(None, schema_id, 0)
        name = f"schema {schema_id}"
        context = None if place is None else SerializationContext(place.topic, "key" if place.is_key else "value")
        try:
            return await self._registry().drive(self._deserializer(form, options).decoder(frame, context))
        except WrongSchemaType as error:
            raise DataError("", f"{name} is of type {error.schema_type}, not {form.schema_type}") from None
        except SchemaCompileError as error:
            raise DataError("", f"{name} cannot be used: {error.detail}") from None
        except SerdesError as error:
            raise DataError("", f"{name}: {error}") from None

    def _deserializer(self, form: EmbeddedFormat, options: Options) -> Deserializer:
        """The flow that finds the schemas of messages; it does not validate, because writers have done so."""
        key = (form.name, options)
        if key not in self._deserializers:
            assert form.schema_type is not None
            config = text_form(form.schema_type).reading.load({"validate": False} if form.schema_type == "JSON" else {})
            part = deserializing(form.schema_type, config, text_options(options))
            rules = self._rules
            self._deserializers[key] = ProxyDeserializer(
                self._registry(), part, config, rules=rules.settings, counts=rules.counts
            )
        return self._deserializers[key]

    def _registry(self) -> AsyncRegistryClient:
        if self._client is None:
            raise INVALID_PAYLOAD(detail="Schema Registry must be configured when using schemas.")
        return self._client

    async def close(self) -> None:
        """Close the connections to the registry."""
        if self._client is not None:
            await self._client.close()


def _schema_by(schema_id: SchemaId, endpoints: Endpoints, subject: str | None = None) -> Flow[SchemaInfo]:
    """The schema with an id, in the context of a subject, or with a guid."""
    if isinstance(schema_id, int):
        return endpoints.schema_by_id(schema_id, subject)
    return endpoints.schema_by_guid(str(schema_id))


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
