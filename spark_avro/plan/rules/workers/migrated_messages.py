"""Migrations of whole messages in Python workers: the data of an older or newer version become the reader's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compat.schema import AVRO, PROTOBUF
from serdes.rules.context import MIGRATION_RULES, Message, Ruled
from serdes.rules.error import RuleError
from serdes.rules.failures import failed
from serdes.rules.plan import RULE_NAME, Plan, rules_plan
from serdes.rules.settings import RuleSettings
from spark_avro.plan.rules.listed import ListedRule
from spark_avro.plan.rules.workers.message_rules import form_of, prepared_step
from spark_avro.sent_schema import SentSchema


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """A step between two versions whose rules run.

    Attributes:
        ruled: The version with the rules.
        source: The version that the data come from.
    """

    ruled: Ruled
    source: Ruled

    def plan(self, mode: str) -> Plan:
        """The plan of its rules."""
        return rules_plan(self.ruled, mode, RuleSettings(), phase=MIGRATION_RULES, source=self.source)


@dataclass(frozen=True)
class MigrationRules:
    """The migration of payloads from a writer's version to the reader's.

    Attributes:
        written: The writer's schema.
        reader: The reader's schema.
        target_id: The id of the reader's schema, which the messages get.
        mode: UPGRADE or DOWNGRADE.
        steps: The steps with rules, in order.
        rules: The rules of the reader's schema that run on the new data before they are encoded.
        message: The full name of Protobuf's message; None for other schemas.
    """

    written: SentSchema
    reader: SentSchema
    target_id: int
    mode: str
    steps: tuple[MigrationStep, ...]
    rules: tuple[ListedRule, ...] = ()
    message: str | None = None

    @property
    def names(self) -> str:
        """The rules' names, for errors."""
        contexts = [step.context for each in self.steps for step in each.plan(self.mode).steps]
        return "rules " + ", ".join(context.rule.name or "" for context in contexts)

    def prepare(self) -> Callable[..., bytes | None]:
        """The function that takes a payload to one of the reader's schema, without the rule of a name."""
        from serdes.codec import EncodeError  # noqa: PLC0415 - in the workers
        from serdes.rules.migrations.migrated import Migrate  # noqa: PLC0415
        from serdes.rules.migrations.steps import Migration  # noqa: PLC0415

        plans = tuple(step.plan(self.mode) for step in self.steps)
        migration = Migration(plans, self.written.ruled, self.reader.ruled)
        migrate, read = Migrate(migration), self._read(migration)
        form = form_of(self.reader, self.message)
        steps = [(rule.name, prepared_step(rule)) for rule in self.rules]
        subject = self.reader.ruled.subject or ""
        last = plans[-1].steps[-1].context
        errors: tuple[type[Exception], ...] = (EncodeError, *form.errors)

        def carry_out(payload: bytes, skipped: str = "") -> bytes | None:
            try:
                written = read(payload, 0)
            except form.errors:
                return None
            headers = [(RULE_NAME, skipped)] if skipped else None
            datum = migrate(written, Message(subject, None, is_key=False, headers=headers, original=None))
            for name, step in steps:
                datum = datum if name == skipped else step(datum)
            try:
                return form.encode(datum)
            except errors as error:
                raise failed(last, RuleError(f"the result does not fit the schema: {error}"), datum) from error

        return carry_out

    def _read(self, migration: Any) -> Callable[[bytes, int], Any]:
        from serdes.rules.migrations import avro, json, protobuf  # noqa: PLC0415 - in the workers
        from serdes.rules.migrations.migrated import TAGGED, avro_json  # noqa: PLC0415

        kind = self.written.schema.schema_type
        if kind == AVRO:
            make = avro.tagged if avro_json(migration) == TAGGED else avro.plain
            writer, reader = ((sent.schema, sent.dependencies) for sent in (self.written, self.reader))
            return make(writer, reader, record_names=True)
        form = form_of(self.written, self.message)

        def decode(payload: bytes, _: int) -> Any:
            return form.decode(payload)

        if kind != PROTOBUF:
            return json.json_form(decode)
        from spark_avro.plan.protobuf_types import message_class  # noqa: PLC0415

        assert self.message is not None
        new = message_class(self.reader, self.message)
        return protobuf.json_form(decode, lambda _: new())
