"""Serializing for all schema types: choose the schema, encode, frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient, RegistryClient
from serdes.client.flow import Flow, Later, called
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import ConfigError, SerializationError, WrongSchemaType
from serdes.message import wire
from serdes.message.arguments import checked_client, checked_function
from serdes.message.config import SerializerConfig
from serdes.message.writing import Chosen, Encoder, RuledEncoder, WriterFormat, ruled_encoder
from serdes.rules import keys
from serdes.rules.context import Ruled
from serdes.rules.counts import RuleCounts
from serdes.rules.seam import before_encoding
from serdes.rules.settings import RuleSettings
from serdes.schema import Schema
from serdes.serialization import Context

ToDict = Callable[[Any, Any], Any]


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
        *,
        rules: RuleSettings | None = None,
    ) -> None:
        """Make a serializer.

        Args:
            client: The registry's client.
            form: The part that depends on the schema type.
            config: The settings.
            schema: The own schema; None if a setting says which of the registry's to use.
            to_dict: Takes an object and its context; returns the datum.
            rules: The settings of rules; None to refuse schemas with rules for clients.
        """
        self.client = checked_client(client, self.client_type)
        self._rules = rules
        #: The number of messages by subject, rule, and what became of them there.
        self.rule_counts = RuleCounts()
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
        #: The same for schemas with rules: messages of others do not pay for the look-up.
        self._ready_ruled: dict[tuple[str, str], tuple[bytes, RuledEncoder, str]] = {}
        #: The time on the monotonic clock when the first of these expires; None for never.
        self._stale_at: float | None = None
        #: Schemas by topic and field, for frames in any place, each with its time of expiry.
        self._chosen: dict[tuple[str | None, str | None], tuple[Chosen, float | None]] = {}
        keys.notify_when_needed(self)
        if rules is not None and rules.names_dead_letters:
            keys.want()

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
            if ctx is not None and (ruled := self._ready_ruled.get((ctx.topic, ctx.field))) is not None:
                return self._with_rules(obj, ctx, *ruled)
        else:
            if self._to_dict is not None:
                obj = self._to_dict(obj, ctx)
            try:
                return prefix + encode(obj)
            except self._form.errors as error:
                raise self._form.explain(error, obj) from error
        assert isinstance(self.client, RegistryClient)
        return self.client.drive(self.message(obj, ctx))

    def _with_rules(self, obj: Any, ctx: Context, prefix: bytes, encode: RuledEncoder, subject: str) -> bytes:
        if self._to_dict is not None:
            obj = self._to_dict(obj, ctx)
        payload: bytes = encode(obj, keys.noted_message(subject, obj, ctx))
        return prefix + payload

    def message(self, obj: Any, ctx: Context | None) -> Flow[bytes]:
        """The message's bytes, as `__call__` returns them; asks the registry for what is not cached."""
        is_key = ctx is not None and ctx.field == "key"
        chosen = yield from self.chosen(ctx)
        in_header = self._config.in_header(is_key=is_key)
        if in_header and (ctx is None or ctx.headers is None):
            raise SerializationError("the schema's guid goes into a header: the context needs a list of headers")
        if self._to_dict is not None:
            obj = self._to_dict(obj, ctx)
        if chosen.rules is not None:
            payload = chosen.rules(obj, keys.noted_message(chosen.subject, obj, ctx))
            if isinstance(payload, Later):
                payload = yield from called(payload.function)
        else:
            if is_key and ctx is not None:
                keys.note(ctx, obj)
            payload = yield from self._encoded(chosen, obj)
        assert isinstance(payload, bytes)
        if not in_header:
            return chosen.prefix + payload
        assert ctx is not None
        wire.write_header(ctx.headers, wire.header_name(is_key=is_key), chosen.header)
        return payload

    def _encoded(self, chosen: Chosen, obj: Any) -> Flow[Any]:
        try:
            payload = chosen.encoder.encode(obj)
            if isinstance(payload, Later):
                payload = yield from called(payload.function)
        except self._form.errors as error:
            raise self._form.explain(error, obj) from error
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
            self._ready_ruled.clear()
        chosen = yield from self._resolve(ctx)
        end = self._config.believed_until(self.client.latest_ttl)
        self._chosen[key] = (chosen, end)
        if ctx is not None and not self._config.in_header(is_key=ctx.field == "key"):
            if chosen.rules is None and ctx.field == "key" and keys.are_needed():
                pass
            elif chosen.rules is None:
                self._ready.setdefault(ctx.topic, {})[ctx.field] = (chosen.prefix, chosen.encoder.encode)
            elif not chosen.rules.is_awaited:
                self._ready_ruled[ctx.topic, ctx.field] = (chosen.prefix, chosen.rules, chosen.subject)
            if end is not None:
                self._stale_at = end if self._stale_at is None else min(end, self._stale_at)
        return chosen

    def _forget_stale(self) -> None:
        # In this order: an entry that another thread adds meanwhile is dropped, or its expiry is kept.
        self._stale_at = None
        self._ready.clear()
        self._ready_ruled.clear()

    def leave_fast_path(self) -> None:
        """Stop taking the fast path for keys, which does not note them for dead letters."""
        for by_field in list(self._ready.values()):
            by_field.pop("key", None)

    def _resolve(self, ctx: Context | None) -> Flow[Chosen]:
        endpoints, config = self.client.endpoints, self._config
        subject = yield from config.naming.subject(endpoints, ctx, self._form.record_name)
        own_schema = yield from self._form.own_schema(ctx, subject)
        schema = None if self.names_schema else own_schema
        # The encoder comes first: a schema without an encoder is not registered.
        made = (yield from self._encoder(schema, subject, own_schema)) if schema is not None else None
        registered = yield from self.registered(subject, own_schema)
        if schema is None or made is None:
            schema = registered.schema
            made = yield from self._encoder(schema, subject, own_schema)
        encoder, dependencies = made
        schema_id = registered.id
        if schema_id is None and not config.in_header(is_key=ctx is not None and ctx.field == "key"):
            schema_id = (yield from endpoints.lookup(subject, schema)).id
        rules = yield from self._with_rules_of(registered, schema_id, subject, (schema, dependencies), encoder)
        return Chosen(schema_id, registered.guid, subject, encoder, rules)

    def _with_rules_of(
        self,
        registered: RegisteredSchema | SchemaInfo,
        schema_id: int | None,
        subject: str,
        schema: tuple[SchemaText, Dependencies],
        encoder: Encoder,
    ) -> Flow[RuledEncoder | None]:
        """The encoder with the rules that the registry has for the schema; None if there are none to carry out."""
        source: RegisteredSchema | SchemaInfo = registered
        if registered.rule_set is None and registered.guid is None and registered.id:
            # A registry that gives no guid may also leave the rules out of its answers to registrations and look-ups.
            source = yield from self.client.endpoints.schema_by_id(registered.id, subject)
        rules, metadata = source.rule_set, source.metadata
        ruled = Ruled(_named(subject), schema[0], rules, metadata, schema[1], subject, schema_id, registered.version)
        settings, is_awaited = self._rules, self.client_type is AsyncRegistryClient
        if settings is None:
            return before_encoding(ruled, None)
        make = partial(ruled_encoder, self._form, encoder, ruled, settings, self.rule_counts, is_awaited=is_awaited)
        return (yield from called(make))

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

    def _encoder(
        self, schema: SchemaText, subject: str, own_schema: SchemaText | None
    ) -> Flow[tuple[Encoder, Dependencies]]:
        if schema.schema_type != self._form.schema_type:
            raise WrongSchemaType(_named(subject), schema.schema_type, self._form.schema_type)
        dependencies = yield from self._dependencies(schema, subject, is_own=schema is own_schema)
        if schema is not own_schema and own_schema is not None and own_schema != schema:
            yield from self._check(_named(subject), schema, dependencies, own_schema, subject)
        return (yield from called(lambda: self._form.encoder(schema, dependencies))), dependencies

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


def _named(subject: str) -> str:
    """The name, in error texts, of the schema that a subject's messages are written with."""
    return f"the schema of subject {subject}"
