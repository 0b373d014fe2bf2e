"""Columns from and to Confluent-format JSON Schema; Python workers validate them on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from compat.schema import JSON, SchemaText
from serdes.rules.context import WRITE
from spark_avro.errors import PlanError
from spark_avro.json_schema.rules import carried_as_json, json_rules
from spark_avro.json_schema.types import json_schema_of, json_type
from spark_avro.modes import message_in, present
from spark_avro.plan.frames import Guids, Message, body
from spark_avro.plan.frames import schema_id as id_of
from spark_avro.plan.outcomes import FAILFAST, Encoded, as_column, written
from spark_avro.plan.parts import Decoded, parts_of
from spark_avro.plan.reasons import MALFORMED, reason
from spark_avro.plan.rules.asked import check_asked
from spark_avro.plan.rules.carried import Carried, no_failure
from spark_avro.plan.rules.carrying import Opened, RowRule, carry_out
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.listed import APPLY, check_rules
from spark_avro.plan.rules.reading import ReadRules, on_messages
from spark_avro.plan.rules.writing import carried_on_bytes, write_rules, written_schema
from spark_avro.plan.selection import Selection, select_versions
from spark_avro.plan.written_frame import PREFIX, check_schema_id, framed
from spark_avro.registry import Registry, client_of, register_or_look_up, subject_of
from spark_avro.sent_schema import SentSchema
from spark_avro.stored_values import json_text
from spark_avro.valid_text import HALF_PAIR, has_half_pair, utf8_text
from spark_avro.workers.decoding import WorkerSettings, json_decoder
from spark_avro.workers.udf import decoded_by, worker_settings

_CORRUPT = "corrupt_"


@dataclass(frozen=True, slots=True)
class JsonPlan:
    """The plan for decoding JSON Schema messages: the versions, and the type of the values; the JVM parses.

    See `spark_avro.plan.decoding.ColumnPlan`.
    """

    chosen: Selection
    kind: spark.DataType
    row_rules: tuple[RowRule, ...] = ()
    has_indexes: ClassVar[bool] = False

    @property
    def rules(self) -> ReadRules:
        """The rules on records."""
        return self.chosen.rules

    @property
    def ids(self) -> Sequence[int]:
        """The ids whose records can be read."""
        return self.chosen.readable_ids

    @property
    def unreadable(self) -> Mapping[int, str]:
        """The reasons why records cannot be read, by id."""
        return self.chosen.refusals

    @property
    def guids(self) -> Guids:
        """The ids of the schemas' guids, newest first."""
        return self.chosen.guids

    def parts(self, message: Message) -> Decoded:
        """The parts of a message decoded by this plan."""
        return parts_of(
            message, self.guids, lambda by_id: self._decoded(by_id, message.replayed), before=self.rules.by_id
        )

    def _decoded(self, message: Column, replayed: Column | None) -> Decoded:
        number = id_of(message)
        readable = F.coalesce(number.isin(*self.ids), F.lit(False))
        text = F.when(readable, utf8_text(body(message)))
        carried = self._parsed(text, replayed)
        sound = message.isNull() | (readable & F.coalesce(carried.sound, F.lit(False)))
        why = reason(message, ids=self.ids, unreadable=self.unreadable, origin=self.chosen.origin)
        why = F.when(has_half_pair(text), F.lit(f"{MALFORMED}: {HALF_PAIR}")).otherwise(why)
        return Decoded(carried.value, sound, why, number).failed(carried.failure, has_rules=bool(self.row_rules))

    def _parsed(self, text: Column, replayed: Column | None) -> Carried:
        """The value of a JSON text after its rules, and whether there is one."""
        parsed = _parse(text, self.kind)
        if not self.row_rules:
            return Carried(parsed.value(parsed.whole), parsed.sound(parsed.whole), no_failure())
        return carry_out(self.row_rules, replace(parsed, replayed=replayed))


@dataclass(frozen=True, slots=True)
class ValidatingJsonPlan(JsonPlan):
    """A JsonPlan whose messages are first validated by their schemas in Python workers."""

    asked: WorkerSettings | None = None

    def _decoded(self, message: Column, replayed: Column | None) -> Decoded:
        chosen = self.chosen
        batch = json_decoder(chosen.sent_schemas, chosen.origin, chosen.seam, self.asked)
        valid = decoded_by(batch, message, spark.StringType())
        carried = self._parsed(valid.value, replayed)
        sound = message.isNull() | (valid.sound & F.coalesce(carried.sound, F.lit(False)))
        unfit = F.when(has_half_pair(valid.value), F.lit(f"{MALFORMED}: {HALF_PAIR}"))
        unfit = unfit.otherwise(F.lit(f"{MALFORMED}: the JSON does not have the column's type"))
        why = F.coalesce(valid.reason, unfit)
        parts = Decoded(carried.value, sound, why, valid.schema_id)
        return parts.failed(carried.failure, has_rules=bool(self.row_rules))


def plan_json(chosen: Selection, *, validate: bool = False) -> JsonPlan:
    """The plan that decodes a selection of JSON Schema versions as the type of the reader's.

    Raises:
        UnsupportedSchema: Spark has no type for the schema.
    """
    return _planned(chosen, json_type(chosen.reader.sent), validate=validate)


def _planned(
    chosen: Selection, kind: spark.DataType, *, validate: bool = False, asked: WorkerSettings | None = None
) -> JsonPlan:
    """The plan, with the rules in the JVM if it can carry all of them out, else before the messages are decoded."""
    row_rules: tuple[RowRule, ...] = ()
    rules = chosen.rules
    changes = any(not rule.context.is_condition for rule in rules.domain)
    # A message is validated after its rules.
    if not (validate and changes):
        with suppress(Untranslatable):
            row_rules = json_rules(rules, chosen.reader)
    if not row_rules:
        chosen = replace(chosen, rules=on_messages(rules, chosen.versions, chosen.reader))
    check_asked(chosen.rules, asked)
    return ValidatingJsonPlan(chosen, kind, row_rules, asked) if validate else JsonPlan(chosen, kind, row_rules)


def from_confluent_json(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    data_type: spark.DataType | str | None = None,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
    is_key: bool = False,
    headers: Any = None,
    rules: str = APPLY,
) -> Column:
    """Decode a column of Confluent-format JSON Schema messages; NULL stays NULL.

    The JVM parses the JSON and checks only the types; `confluent_json_udf` validates against the schema.

    Args:
        column: Binary: magic byte, schema id, JSON text in UTF-8.
        registry: The registry's URL, the settings of its client, or a client.
        subject: The subject whose versions can be decoded; its latest version defines the type.
        topic: The same, for the subject `{topic}-value`, or `{topic}-key` with `is_key`.
        ids: Further ids that can be decoded; without subject and topic, the first one defines the type.
        data_type: The Spark type instead of the schema's; DDL text is accepted.
        mode: As in `from_confluent_avro`.
        position: As in `from_confluent_avro`.
        is_key: Whether `topic` means the subject of its key, and headers name keys' schemas.
        headers: As in `from_confluent_avro`.
        rules: As in `from_confluent_avro`.

    Raises:
        NoSubject, PlanError, UnsupportedSchema, RulesNotSupported, RegistryUnavailable: as `from_confluent_avro`.
    """
    sent = message_in(column, headers, is_key=is_key)
    plan = _planned(*_select(registry, subject, topic, ids, data_type, is_key=is_key, rules=rules))
    return present(plan.parts(sent), sent.payload, mode=mode, position=position)


def confluent_json_udf(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    data_type: spark.DataType | str | None = None,
    ask_registry: bool = False,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
    is_key: bool = False,
    headers: Any = None,
    rules: str = APPLY,
) -> Column:
    """Do the same as `from_confluent_json`, after Python workers have validated each message with its schema.

    `ask_registry` lets workers look up ids that were not known when the query was planned; the other arguments and the
    errors are those of `from_confluent_json`.
    """
    sent = message_in(column, headers, is_key=is_key)
    chosen, kind = _select(registry, subject, topic, ids, data_type, is_key=is_key, rules=rules)
    asked = worker_settings(registry) if ask_registry else None
    plan = _planned(chosen, kind, validate=True, asked=asked)
    return present(plan.parts(sent), sent.payload, mode=mode, position=position)


def to_confluent_json(  # noqa: PLR0913 - independent settings, by name
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    schema: str | SchemaText | None = None,
    data: DataFrame | None = None,
    title: str = "Row",
    register: bool = True,
    is_key: bool = False,
    schema_id: str = PREFIX,
    rules: str = APPLY,
    mode: str = FAILFAST,
    position: Sequence[Any] = (),
) -> Column:
    """Encode a column of structs, arrays or maps as Confluent-format JSON; NULL stays NULL, NULL fields are omitted.

    Args:
        column: The column to encode.
        registry: The registry's URL, the settings of its client, or a client.
        subject: The subject under which to register; by default it is derived from the topic.
        topic: The topic that the column will be written to.
        schema: The JSON Schema; by default it is derived from the column's type in `data`.
        data: The data frame with the column.
        title: The title of a derived schema.
        register: Whether to register a schema that the subject does not have; otherwise that is an error.
        is_key: Whether `topic` means the subject of its key.
        schema_id: As in `to_confluent_avro`.
        rules: As in `to_confluent_avro`; the JVM needs `data` to carry rules out.
        mode: As in `to_confluent_avro`.
        position: As in `to_confluent_avro`.

    Raises:
        PlanError: arguments are missing, JSON has no matching type, or a rule cannot be carried out.
        IncompatibleSchema: the schema is incompatible with the subject's versions.
        RulesNotSupported: the schema has rules, and `rules` refuses them.
    """
    encoded = encode_json(
        column,
        registry=registry,
        subject=subject,
        topic=topic,
        schema=schema,
        data=data,
        title=title,
        register=register,
        is_key=is_key,
        schema_id=schema_id,
        rules=rules,
    )
    return written(encoded, mode=mode, position=position)


def encode_json(  # noqa: PLR0913 - as above
    column: Any,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    schema: str | SchemaText | None = None,
    data: DataFrame | None = None,
    title: str = "Row",
    register: bool = True,
    is_key: bool = False,
    schema_id: str = PREFIX,
    rules: str = APPLY,
) -> Encoded:
    """A column as JSON, and what rules reject; the arguments and errors are those of `to_confluent_json`."""
    check_schema_id(schema_id)
    check_rules(rules, WRITE)
    payload = as_column(column)
    source = None if data is None else data.select(payload.alias("payload")).schema["payload"].dataType
    if schema is None:
        if source is None:
            raise PlanError("give a schema, or the data whose column's type is to be the schema")
        schema = json_schema_of(source, title)
    if subject is None and topic is None:
        raise PlanError("give a subject or a topic")
    text = SchemaText(JSON, schema) if isinstance(schema, str) else schema
    name, _ = subject_of(subject=subject, topic=topic, is_key=is_key)
    client = client_of(registry)
    held = register_or_look_up(client, name, text, register=register)
    texts, failure = _after_rules(payload, source, written_schema(client, held), rules)
    return Encoded(framed(texts, payload, held, schema_id, is_key=is_key), failure)


def _after_rules(
    payload: Column, source: spark.DataType | None, sent: SentSchema, rules: str
) -> tuple[Column, Column | None]:
    """The texts of values after their rules, and the failures; None if there are no rules."""
    listed = write_rules(sent, rules)
    if not listed:
        return json_text(payload).cast("binary"), None
    try:
        carried = carried_as_json(payload, source, sent, listed)
    except Untranslatable:
        on_bytes = carried_on_bytes(json_text(payload).cast("binary"), sent, listed)
        return on_bytes.value, on_bytes.failure
    return json_text(carried.value).cast("binary"), carried.failure


def _select(
    registry: Registry,
    subject: str | None,
    topic: str | None,
    ids: Sequence[int],
    data_type: spark.DataType | str | None,
    *,
    is_key: bool,
    rules: str,
) -> tuple[Selection, spark.DataType]:
    """The versions that can be decoded, and the type of the values."""
    as_written = data_type is not None
    chosen = select_versions(
        registry=registry,
        schema_type=JSON,
        subject=subject,
        topic=topic,
        ids=ids,
        is_key=is_key,
        as_written=as_written,
        rules=rules,
    )
    if data_type is None:
        return chosen, json_type(chosen.reader.sent)
    if isinstance(data_type, str):
        return chosen, spark._parse_datatype_string(data_type)  # noqa: SLF001 - pyspark has no other parser of DDL without a session
    return chosen, data_type


def _parse(text: Column, kind: spark.DataType) -> Opened:
    """The value of a JSON text, and whether there is one; from_json rejects scalars, so each is put in an object."""
    text = F.when(~has_half_pair(text), text)
    around = spark.StructType([spark.StructField("value", kind), spark.StructField(_CORRUPT, spark.StringType())])
    whole = F.from_json(
        F.concat(F.lit('{"value":'), text, F.lit("}")),
        around,
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT},
    )
    return Opened(whole, lambda whole: whole["value"], lambda whole: whole.isNotNull() & whole[_CORRUPT].isNull())
