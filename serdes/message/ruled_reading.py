"""The rules of schemas, put around the decoders of messages."""

from __future__ import annotations

from contextlib import suppress

from compat.schema import Dependencies, SchemaText
from serdes.client.clients import BaseClient
from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow, called
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import SerializationError
from serdes.message.config import DeserializerConfig
from serdes.message.reading import (
    Decode,
    Finish,
    ReaderFormat,
    Resolved,
    RuledDecoder,
    after_indexes,
    ruled_version,
    whole_body,
)
from serdes.rules.context import ENCODING_RULES, READ, Ruled
from serdes.rules.counts import RuleCounts
from serdes.rules.migrations.migrated import Migrate
from serdes.rules.migrations.steps import Migration, migration
from serdes.rules.plan import rules_plan
from serdes.rules.seam import after_decoding
from serdes.rules.settings import RuleSettings
from serdes.schema import Schema
from serdes.serialization import Context


class RuledReading:
    """Makes the decoders of one deserializer, with the rules around them.

    Args:
        form: The part of deserializing that depends on the schema type.
        config: The settings.
        settings: The settings of rules; None to refuse schemas with rules for clients.
        own: The reader's schema given in code, with its own rules and metadata if it has some.
        counts: Where messages are counted.
        is_awaited: Whether what may take long is returned as a Later.
    """

    def __init__(
        self,
        form: ReaderFormat,
        config: DeserializerConfig,
        settings: RuleSettings | None,
        own: Schema | None,
        counts: RuleCounts,
        *,
        is_awaited: bool,
    ) -> None:
        self._form = form
        self._config = config
        self._settings = settings
        self._own = own
        self._counts = counts
        self._is_awaited = is_awaited

    def writer(
        self, client: BaseClient, name: str, info: SchemaInfo, needed: Dependencies, ctx: Context | None
    ) -> Flow[Ruled]:
        """The writer's schema with its rules and, if it has some, all that they need."""
        subject = None if ctx is None else f"{ctx.topic}-{ctx.field}"
        if info.rule_set and self._settings is not None:
            if not self._form.needs_references:
                needed = yield from client.endpoints.dependencies(info.schema, subject)
            with suppress(SerializationError):
                record = self._form.record_name(info.schema)
                subject = yield from self._config.naming.subject(client.endpoints, ctx, record)
        return Ruled(name, info.schema, info.rule_set, info.metadata, needed, subject, info.id, info.version)

    def decoder(
        self,
        endpoints: Endpoints,
        writer: Ruled,
        written: Resolved,
        version: RegisteredSchema | None,
        read: Resolved | None,
    ) -> Flow[Decode | RuledDecoder]:
        """The decoder, with the rules around it that the schemas have."""
        latest = None if version is None or read is None else ruled_version(version, read[1])
        if self._settings is None:
            decode = yield from called(lambda: self._form.decoder(written, read))
            return after_decoding(writer, latest, decode)
        reader = latest or self._own_rules(read, writer.subject) or writer
        steps = None
        if version is not None:
            steps = yield from migration(endpoints, writer, version, self._settings, self._counts)
        return (yield from self._around(writer, reader, written, read, steps))

    def _own_rules(self, read: Resolved | None, subject: str | None) -> Ruled | None:
        """The reader's schema that is given in code, if it has rules of its own."""
        own = self._own
        if own is None or not own.rule_set_json:
            return None
        dependencies = () if read is None else read[1]
        return Ruled("the reader's schema", own.text, own.rule_set_json, own.metadata_json, dependencies, subject)

    def without_writer(self, reader: SchemaText | None, ctx: Context | None) -> Flow[Decode | RuledDecoder]:
        """The decoder of messages whose writer's schema is not needed."""
        read: Resolved | None = None if reader is None else (reader, ())
        ruled = self._own_rules(read, None if ctx is None else f"{ctx.topic}-{ctx.field}")
        if ruled is None or self._settings is None:
            return (yield from called(lambda: self._form.decoder(None, read)))
        return (yield from self._around(Ruled("the writer's schema", ruled.schema), ruled, None, read))

    def _around(
        self,
        writer: Ruled,
        reader: Ruled,
        written: Resolved | None,
        read: Resolved | None,
        steps: Migration | None = None,
    ) -> Flow[Decode | RuledDecoder]:
        form, settings = self._form, self._settings or RuleSettings()
        counts = self._counts
        encoding = yield from called(lambda: rules_plan(writer, READ, settings, phase=ENCODING_RULES, counts=counts))
        domain = yield from called(lambda: rules_plan(reader, READ, settings, counts=counts))
        decode: Decode
        decode, finish = yield from called(
            lambda: self._decoder(written, read, steps, of_writer=reader is writer, has_domain_rules=bool(domain))
        )
        if not domain and not encoding and steps is None:
            return decode
        body = after_indexes(zigzag=form.zigzag) if form.indexed else whole_body
        return RuledDecoder(
            decode,
            finish,
            encoding,
            domain,
            reader.subject or reader.name,
            body,
            form.errors,
            form.explain,
            self._is_awaited,
            None if steps is None else Migrate(steps),
        )

    def _decoder(
        self,
        written: Resolved | None,
        read: Resolved | None,
        steps: Migration | None,
        *,
        of_writer: bool,
        has_domain_rules: bool,
    ) -> tuple[Decode, Finish | None]:
        """The decoder before the rules on the datum, and what follows them."""
        form = self._form
        if steps is not None and written is not None and read is not None and form.migrated is not None:
            return form.migrated((written[0], steps.source.dependencies), read, steps)
        if has_domain_rules and form.around_rules is not None:
            return form.around_rules(written, read, of_writer)
        return form.decoder(written, read), None
