"""Schemas as the proxy uses them: resolved with the registry once, kept as compiled codecs."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from compat.schema import Dependencies, Reference, SchemaText
from rest_proxy.codecs import DataError, InvalidSchemaText, Options, PayloadCodec
from rest_proxy.errors import (
    INVALID_PAYLOAD,
    INVALID_SCHEMA,
    KAFKA_AUTHORIZATION,
    SERIALIZATION,
    SERIALIZING_FAILED,
)
from rest_proxy.formats import EmbeddedFormat
from serdes import wire
from serdes.client import AsyncRegistryClient
from serdes.error import (
    RegistryError,
    RulesNotSupported,
    SchemaRefused,
    SerdesError,
    SubjectNotFound,
    VersionNotFound,
)
from serdes.models import RegisteredSchema
from serdes.schema import Ruled, refuse_to_read, refuse_to_write

#: How many codecs are kept in each direction; the one unused for longest goes first.
CACHED = 1000
#: Schemas of more characters are compiled beside the event loop.
_LONGEST_INLINE = 10_000

V = TypeVar("V")
#: What a message names its schema by.
SchemaId = int | UUID


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


#: The subject of keys or values; None where it is named after the schema's record, which has no name or is not known.
Naming = Callable[[Side, str | None], str | None]


class QuickWriter(NamedTuple):
    """How a writer that may take long encodes on the event loop; see `Quick` of the codecs."""

    covers: Callable[[int, int], bool]
    encode: Callable[[Any], bytes | None]


class Writer(NamedTuple):
    """A schema that a request's keys or values are written with; without `quick`, `encode` never takes long."""

    schema_id: int
    encode: Callable[[Any], bytes | None]
    quick: QuickWriter | None = None


class Schemas:
    """Finds writers and readers; every answer of the registry that cannot change is asked for once."""

    def __init__(
        self,
        client: AsyncRegistryClient | None,
        naming: Mapping[str, Naming],
        *,
        null_is_always_tombstone: bool = False,
    ) -> None:
        """Nothing is asked yet.

        Args:
            client: Of the registry; None without one.
            naming: How the subjects of `key` and `value` are named.
            null_is_always_tombstone: Also where the schema takes null.
        """
        self._client = client
        self._naming = naming
        self._null_is_always_tombstone = null_is_always_tombstone
        self._writers: OrderedDict[Hashable, Writer] = OrderedDict()
        self._readers: OrderedDict[Hashable, PayloadCodec] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, "schemas")

    async def writer(self, form: EmbeddedFormat, side: Side, source: Source, options: Options) -> Writer:
        """The writer for keys or values; a text that their subject does not hold yet is registered.

        Raises:
            ApiError: INVALID_SCHEMA; SERIALIZING_FAILED if the registry refuses or does not answer, or if the schema
                has rules that the proxy would have to carry out; INVALID_PAYLOAD if there is no registry; SERIALIZATION
                if the schema has no name to go by.
        """
        key = (form.name, side, source, options)
        known = _recent(self._writers, key)
        if known is not None:
            return known
        try:
            schema_id, codec = await self._resolve(form, side, source, options)
        except RulesNotSupported as error:
            raise SERIALIZING_FAILED(detail=str(error)) from None
        prefix = wire.prefix(schema_id)
        null_is_tombstone = self._null_is_always_tombstone

        def framing(encode: Callable[..., bytes]) -> Callable[[Any], bytes | None]:
            def frame(value: Any) -> bytes | None:
                if value is None and (null_is_tombstone or not codec.takes_null()):
                    return None
                return encode(value, prefix)

            return frame

        quick = codec.quick and QuickWriter(codec.quick.covers, framing(codec.quick.encode))
        return _keep(self._writers, key, Writer(schema_id, framing(codec.encode), quick))

    async def _resolve(
        self, form: EmbeddedFormat, side: Side, source: Source, options: Options
    ) -> tuple[int, PayloadCodec]:
        name = self._naming[side.field]
        hint = name(side, None)
        schema = await self._given(form, hint, source)
        codec = await self._compile(form, schema, options, hint)
        subject = name(side, codec.record_name)
        if subject is None:
            raise SERIALIZATION(
                detail=f"The subject of {side.field}s is named after their record, and the schema has none."
            )
        held = await self._held(form, subject, schema, source)
        refuse_to_write(Ruled(f"the schema of subject {subject}", schema, held.rule_set))
        return held.id, codec

    def known_reader(self, form: EmbeddedFormat, schema_id: SchemaId, options: Options) -> PayloadCodec | None:
        """The codec for an id or guid, if it was resolved before."""
        return _recent(self._readers, (form.name, schema_id, options))

    async def reader(self, form: EmbeddedFormat, schema_id: SchemaId, options: Options) -> PayloadCodec:
        """The codec for the schema of an id or guid.

        Raises:
            DataError: The registry has no such schema, or one of another type, or one with rules that the proxy would
                have to carry out.
        """
        known = self.known_reader(form, schema_id, options)
        if known is not None:
            return known
        try:
            registry = self._registry()
            if isinstance(schema_id, int):
                info = await registry.schema_by_id(schema_id)
            else:
                info = await registry.schema_by_guid(str(schema_id))
            schema = info.schema
            refuse_to_read(Ruled(f"schema {schema_id}", schema, info.rule_set))
            if schema.schema_type != form.schema_type:
                raise DataError("", f"schema {schema_id} is of type {schema.schema_type}, not {form.schema_type}")
            dependencies = await self._registry().dependencies(schema)
            assert form.compile is not None
            codec = await self._compiling(form.compile, schema, dependencies, options)
        except RulesNotSupported as error:
            raise DataError("", str(error)) from None
        except SerdesError as error:
            raise DataError("", f"schema {schema_id}: {error}") from None
        except InvalidSchemaText as error:
            raise DataError("", f"schema {schema_id} cannot be used: {error}") from None
        return _keep(self._readers, (form.name, schema_id, options), codec)

    def _registry(self) -> AsyncRegistryClient:
        if self._client is None:
            raise INVALID_PAYLOAD(detail="Schema Registry must be configured when using schemas.")
        return self._client

    async def _given(self, form: EmbeddedFormat, subject: str | None, source: Source) -> SchemaText:
        assert form.schema_type is not None
        if source.text is not None:
            self._registry()
            return SchemaText(form.schema_type, source.text, source.references)
        assert source.schema_id is not None
        try:
            info = await self._registry().schema_by_id(source.schema_id, subject)
        except SerdesError as error:
            raise _failed(f"Error when fetching schema by id. schemaId = {source.schema_id}", error) from None
        schema = info.schema
        refuse_to_write(Ruled(f"schema {source.schema_id}", schema, info.rule_set))
        if schema.schema_type != form.schema_type:
            text = f"Schema {source.schema_id} is of type {schema.schema_type}, not {form.schema_type}."
            raise SERIALIZING_FAILED(detail=text)
        return schema

    async def _compile(
        self, form: EmbeddedFormat, schema: SchemaText, options: Options, subject: str | None
    ) -> PayloadCodec:
        assert form.compile is not None
        try:
            dependencies = await self._registry().dependencies(schema, subject) if schema.references else ()
            return await self._compiling(form.compile, schema, dependencies, options)
        except SerdesError as error:
            raise _failed(_registering(form, subject, schema), error) from None
        except InvalidSchemaText as error:
            raise INVALID_SCHEMA(detail=str(error)) from None

    async def _compiling(
        self,
        compile_: Callable[[SchemaText, Dependencies, Options], PayloadCodec],
        schema: SchemaText,
        dependencies: Dependencies,
        options: Options,
    ) -> PayloadCodec:
        """The codec of a schema; long ones are compiled beside the event loop, one at a time."""
        if len(schema.text) + sum(len(dependency.text) for dependency in dependencies) <= _LONGEST_INLINE:
            return compile_(schema, dependencies, options)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, compile_, schema, dependencies, options)

    async def _held(self, form: EmbeddedFormat, subject: str, schema: SchemaText, source: Source) -> RegisteredSchema:
        registry = self._registry()
        if source.text is not None:
            await self._refuse_latest_rules(form, subject, schema)
        try:
            return await registry.lookup(subject, schema)
        except RegistryError as missing:
            if source.text is None:
                text = f"Error when fetching schema version. subject = {subject}, schemaId = {source.schema_id}"
                raise _failed(text, missing) from None
        except SerdesError as error:
            raise _failed(_registering(form, subject, schema), error) from None
        try:
            return await registry.register(subject, schema)
        except SchemaRefused as error:
            raise INVALID_SCHEMA(detail=error.message) from None
        except SerdesError as error:
            raise _failed(_registering(form, subject, schema), error) from None

    async def _refuse_latest_rules(self, form: EmbeddedFormat, subject: str, schema: SchemaText) -> None:
        """Stop at rules of the subject's latest version: a text that is registered without rules inherits them.

        A look-up alone would find the text in an earlier version, from before the rules.
        """
        registry = self._registry()
        registry.clear_latest_caches()
        try:
            latest = await registry.version(subject)
        except (SubjectNotFound, VersionNotFound):
            return
        except SerdesError as error:
            raise _failed(_registering(form, subject, schema), error) from None
        refuse_to_write(Ruled(f"the latest version of subject {subject}", latest.schema, latest.rule_set))

    async def close(self) -> None:
        """Close the connections to the registry."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._client is not None:
            await self._client.close()


def _registering(form: EmbeddedFormat, subject: str | None, schema: SchemaText) -> str:
    return f"Error when registering schema. format = {form.schema_type}, subject = {subject}, schema = {schema.text}"


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
