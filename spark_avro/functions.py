"""Columns from Confluent-format messages: 0x00, a schema id of four bytes, and the payload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.modes import message_in, present
from spark_avro.plan.after_rules import after_rules
from spark_avro.plan.decoding import Decoding, decoded, kept_part
from spark_avro.plan.frames import Guids, Message, schema_guid, schema_id
from spark_avro.plan.outcomes import FAILFAST, ColumnOrName
from spark_avro.plan.parts import Decoded, parts_of
from spark_avro.plan.rules.asked import check_asked
from spark_avro.plan.rules.listed import APPLY
from spark_avro.plan.rules.reading import ReadRules, avro_rules
from spark_avro.plan.selection import Selection, plan_decoding, select_versions
from spark_avro.registry import Registry
from spark_avro.workers.avro import decoded_in_python
from spark_avro.workers.decoding import WorkerSettings
from spark_avro.workers.udf import worker_settings


def from_confluent_avro(  # noqa: PLR0913 - independent settings, by name
    column: ColumnOrName,
    *,
    registry: Registry,
    subject: str | None = None,
    topic: str | None = None,
    ids: Sequence[int] = (),
    reader_schema: str | None = None,
    record: str | None = None,
    fields: Sequence[str] | None = None,
    ask_registry: bool = False,
    mode: str = FAILFAST,
    position: Sequence[ColumnOrName] = (),
    is_key: bool = False,
    headers: ColumnOrName | None = None,
    rules: str = APPLY,
) -> Column:
    """A column of Confluent-format Avro, decoded with the schema that each record was written with.

    The driver reads all schemas from the registry here, and the JVM decodes: executors do not use the registry. NULL
    stays NULL.

    Args:
        column: Binary: magic byte, schema id or guid, payload; the payload alone if a header has the guid.
        registry: The registry's URL, the settings of its client (`{"url": .., "basic.auth.user.info": ..}`), or a
            `serdes.RegistryClient`.
        subject: The subject whose versions are decoded; its latest is the reader's schema.
        topic: The same, for the subject `{topic}-value`, or `{topic}-key` with `is_key`.
        ids: Additional ids that are decoded; without subject and topic, the first is the reader's schema.
        reader_schema: The Avro text of the reader's schema, instead of the latest version.
        record: The full name of the records to select if the subject has several: other records become NULL (DROP drops
            them), and the newest version of that name is the reader's schema.
        fields: The only fields to decode, with dots into nested records; this saves the most time.
        ask_registry: Whether Python workers look up ids that were not registered when the query was planned, and decode
            their records; this also slows down all other records.
        mode: FAILFAST raises on the first broken record. PERMISSIVE returns a struct of `value` and `error`: error is
            NULL, or a struct of `reason`, `id`, `raw`, `rule` and `path`, and then value is NULL. DROP drops the rows
            of broken records (the column generates rows: only one such column per select).
        position: Columns of topic, partition and offset for errors: KAFKA_POSITION with the Kafka source.
        is_key: Whether `topic` means the subject of the topic's keys, and headers name keys' schemas.
        headers: The records' headers, if headers may name the schemas: the column of that name of the Kafka source,
            read with `includeHeaders`. A header `__value_schema_id` (for keys `__key_schema_id`) decides; a record
            without it has its schema's id or guid before the payload.
        rules: What becomes of the rules of the schemas. `apply` carries out those of the reader's schema, or the
            writers' if `reader_schema` is given: in the JVM, or in Python workers if it cannot carry a whole rule out.
            A record that a rule rejects is broken, and its error has the `rule` and the `path` of what it rejects.
            `refuse` refuses schemas with rules, and `ignore` reads without rules.

    Raises:
        NoSubject: the registry does not have the subject.
        UnsupportedSchema: Spark has no faithful type for a schema: it is recursive, or has a decimal of over 38 digits.
        RulesNotSupported: all schemas have rules that nobody carries out here, or with `refuse` any; if only some
            have, their records are broken.
        PlanError: a rule of the reader's schema cannot be carried out, arguments contradict each other, or a named id
            or record does not exist.
        RegistryUnavailable: the registry does not answer.
    """
    chosen = select_versions(
        registry=registry,
        subject=subject,
        topic=topic,
        ids=ids,
        reader_schema=reader_schema,
        record=record,
        is_key=is_key,
        rules=rules,
    )
    plan = plan_decoding(chosen, fields, record)
    if ask_registry:
        asked = worker_settings(registry)
        check_asked(plan.rules, asked)
        sent = message_in(column, headers, is_key=is_key)
        parts = parts_of(sent, plan.guids, lambda by_id: _with_fallback(by_id, plan, chosen, asked, sent.replayed))
        return present(parts, sent.payload, mode=mode, position=position, drop=_unselected(sent, plan))
    return decode_column(column, plan, mode=mode, position=position, is_key=is_key, headers=headers)


def decode_column(
    column: ColumnOrName,
    plan: Decoding,
    *,
    mode: str = FAILFAST,
    position: Sequence[ColumnOrName] = (),
    is_key: bool = False,
    headers: ColumnOrName | None = None,
) -> Column:
    """A column decoded by an existing plan; see from_confluent_avro."""
    sent = message_in(column, headers, is_key=is_key)
    return present(plan.parts(sent), sent.payload, mode=mode, position=position, drop=_unselected(sent, plan))


def _with_fallback(
    message: Column, plan: Decoding, chosen: Selection, asked: WorkerSettings, replayed: Column | None
) -> Decoded:
    """The JVM's parts, or those of Python workers for ids that the plan lacks; the workers get NULL for all others."""
    parts = decoded(message, replace(plan, rules=ReadRules()))
    planned = [*plan.ids, *plan.unreadable, *plan.unselected]
    is_planned = F.coalesce(parts.schema_id.isin(*planned), F.lit(False))
    is_named = parts.schema_id.isNotNull() | schema_guid(message).isNotNull()
    foreign = F.when(is_named & ~is_planned, message)
    in_python = decoded_in_python(foreign, chosen, reader=plan.reader, asked=asked)
    is_foreign = foreign.isNotNull()
    merged = Decoded(
        F.when(is_foreign, in_python.value).otherwise(parts.value),
        F.when(is_foreign, in_python.sound).otherwise(parts.sound),
        F.coalesce(in_python.reason, parts.reason),
        parts.schema_id,
    )
    ruled = after_rules(merged, avro_rules(plan.rules.domain, plan.reader), replayed)
    return ruled if plan.kept is None else replace(ruled, value=kept_part(ruled.value, plan))


def _unselected(sent: Message, plan: Decoding) -> Column | None:
    if not plan.unselected:
        return None
    return F.coalesce(schema_id(sent.by_id(plan.guids)).isin(*plan.unselected), F.lit(False))


def confluent_schema_id(
    column: ColumnOrName,
    *,
    headers: ColumnOrName | None = None,
    guids: Guids | None = None,
    is_key: bool = False,
) -> Column:
    """The schema id of each message as a long; NULL for NULL and for a message without a known frame.

    Args:
        column: Binary, as in `from_confluent_avro`.
        headers: As in `from_confluent_avro`.
        guids: The ids of guids; the id of a message with another guid is NULL. `confluent_schema_guid` has the guids.
        is_key: Whether headers name keys' schemas.
    """
    return schema_id(message_in(column, headers, is_key=is_key).by_id(guids or {}))


def confluent_schema_guid(column: ColumnOrName, *, headers: ColumnOrName | None = None, is_key: bool = False) -> Column:
    """The schema guid of each message as text; NULL for NULL, and for a message that has an id or no frame.

    Args:
        column: Binary, as in `from_confluent_avro`.
        headers: As in `from_confluent_avro`.
        is_key: Whether headers name keys' schemas.
    """
    return schema_guid(message_in(column, headers, is_key=is_key).by_id({}))
